import type { Step } from "./steps.ts";

const place = { ACCOUNT: "000000000000", REGION: "us-east-1" };
const production = { "deploy -- staging": "deploy -- production", "--env staging": "--env production" };
const tables = ["orders", "keys"];
const noGitHub = "there is no GitHub here";
const newerCommandLine = "it needs version 2 of the AWS command line, and PyPI has version 1";
const imported = "issued; printed '9 orders: 9 written'";
const stuck = `release "console.info('Another release');"; echo alarm > "$ROLLOUT"; fails deploy`;

/** The service's life by the sections of the runbook. */
export const life: Record<string, Step[]> = {
  "Deploy and run the service": [{ run: "STACK=", check: '[ "$STACK" = PetStoreOrders-production ]' }],
  "First deployment": [
    { run: "aws lambda get-account-settings", check: `printed '"ConcurrentExecutions": \\d+'` },
    { parse: "aws service-quotas", because: "MiniStack knows no quotas" },
    { meanwhile: "orders are exported elsewhere", commands: "order {1..9} > orders.ndjson" },
    { run: "npx cdk bootstrap", check: `${imported}; kept staging`, values: place },
    { run: "npx cdk bootstrap", check: `${imported}; kept production`, values: { ...place, ...production } },
  ],
  "First hour": [
    {
      run: "node -e",
      check: "printed '^pass +the smoke test'; printed '^seen +do requests'",
      values: {
        "300000": "2000",
        "npm run first-hour -- --env staging": "fails npm run first-hour -- --env staging --yes --part smoke gateway",
      },
    },
    { skip: "npm run first-hour -- --env staging --part canary", because: "alarms don't go off in MiniStack" },
  ],
  "Your own domain": [
    {
      run: "aws acm request-certificate",
      check: "printed ^ISSUED; printed '\\tCNAME\\t'",
      values: {
        NAME: "orders.example.com",
        ARN: "$(aws acm list-certificates --output text --query '*[0].CertificateArn')",
      },
    },
    { skip: "LOG=", because: newerCommandLine },
  ],
  Pipeline: [
    { skip: "npm run compare", because: "nothing is to be accepted yet; the restore shows what is" },
    { run: "aws iam create-open-id", check: "printed oidc-provider/token.actions.githubusercontent.com" },
    { skip: "gh api repos/OWNER/REPO --jq", because: noGitHub },
    { skip: "gh api -X PUT", because: noGitHub },
  ],
  "Check a deployment": [
    {
      run: "read -rs API_KEY",
      check: "printed 'pass     204 for cancelling order 7'; printed 'passed, 0 failed'",
      values: { "https://HOST/v1": "$(base_url production)", "4711": "7" },
    },
  ],
  "Roll back": [
    { skip: "gh run list", because: noGitHub },
    {
      meanwhile: "a bad commit is being deployed",
      commands: `GOOD=$(git rev-parse HEAD); release "throw new Error('A bad commit');"; echo slow > "$ROLLOUT"
        deploy & until stack production StackStatus | grep UPDATE_IN_PROGRESS; do sleep 1; done`,
    },
    { run: "aws cloudformation cancel-update-stack", check: "kept production" },
    { meanwhile: "it is deployed all the same", commands: 'echo > "$ROLLOUT"; deploy; fails kept production' },
    ...["ListOrders", "CancelOrder", "Authorize"].map((name) => ({
      run: "aws cloudformation list-stack-resources",
      check: `printed '"FunctionVersion": "1"'`,
      values: { NAME: `$(function_name ${name})`, N: "1" },
    })),
    { meanwhile: "the old code serves again", commands: "kept production" },
    { skip: "gh workflow run", because: noGitHub },
    { run: "git fetch", check: "kept production", values: { COMMIT: "$GOOD" } },
    {
      meanwhile: "the bad commit is reverted",
      commands: "git checkout -q main; git revert --no-edit HEAD; git push -q",
    },
  ],
  "A stuck rollback": [
    { meanwhile: "an alarm goes off amid a deployment", commands: stuck },
    {
      run: "aws cloudformation describe-stacks",
      check: "printed ^UPDATE_ROLLBACK_FAILED; printed ^AWS::Lambda::Alias",
    },
    { meanwhile: "the alarm is over", commands: 'echo > "$ROLLOUT"' },
    { run: "npx cdk rollback", check: "kept production" },
    { meanwhile: "it gets stuck once more", commands: stuck },
    {
      run: "aws cloudformation list-stack-resources",
      check: "stack production StackStatus | grep UPDATE_ROLLBACK_COMPLETE",
    },
    {
      meanwhile: "the last good commit is deployed while the alarm is on",
      commands: 'deploy -c canary=false; kept production; echo > "$ROLLOUT"',
    },
  ],
  "Replace a leaked key": [
    {
      run: "npm run admin -- --env production keys list",
      check: "issued; kept production",
      values: { KEY_ID: "$(active_key)" },
    },
    { parse: "aws apigateway flush", because: "MiniStack does not flush" },
  ],
  "Restore a table": [
    ...tables.map((table) => ({
      run: "npm run admin -- --env production orders restore",
      check: `restored ${table}`,
      values: { "production orders": `production ${table}`, "2026-11-20T08:00:00Z": "$(date -u +%FT%TZ)" },
    })),
    {
      meanwhile: "orders are placed, shipped and cancelled, a key is issued and another revoked",
      commands: `order 10 >> orders.ndjson; admin orders import orders.ndjson; admin orders ship 3
        cancel 2; REVOKED=$(active_key); KEY=$(admin keys issue --name Later); admin keys revoke "$REVOKED"`,
    },
    ...tables.map((table) => ({
      run: "npm run admin -- --env production orders carry-over",
      check: "printed 'Carried over.* 1 (shipped|revoked)'",
      values: { "production orders": `production ${table}`, OLD: `$OLD_${table}`, NEW: `$NEW_${table}` },
    })),
    {
      meanwhile: "a deployment that would make the tables anew fails",
      commands: `BEFORE=$(git rev-parse HEAD); cancel 4
        set_production "restoredTables: { orders: '$NEW_orders', apiKeys: '$NEW_keys' }"; merge Restore
        fails npx cdk deploy "$STACK" --exclusively -c canary=false; kept production
        aws cloudformation describe-stack-events --stack-name "$STACK" | grep "$NEW_orders' already exists"`,
    },
    {
      meanwhile: "the traffic moves, and an order is cancelled after that",
      commands: `fails deploy -c canary=false
        deploy -c canary=false --accept "orders-table-in-use keys-table-in-use"
        kept production; cancel 5; items "$NEW_orders" | grep "^5.cancelled"
        in_stack "$NEW_orders"; in_stack "$NEW_keys"`,
    },
    ...tables.map((table) => ({
      run: "sleep 30",
      check: `diff <(items "$OLD_${table}" | grep -v ^5) <(items "$NEW_${table}" | grep -v ^5)`,
      values: { "production orders": `production ${table}`, OLD: `$OLD_${table}`, "30": "1" },
    })),
    {
      meanwhile: "a setting changes, which holds for the table in use",
      commands: `set_production "ordersStream: true"; merge "Tell others"; deploy -c canary=false
        stack production "Outputs[?OutputKey=='OrdersStreamArn'].OutputValue" | grep "/$NEW_orders/stream/"`,
    },
    {
      meanwhile: "the code of before the restore is rolled back to with today's settings, and the tables stay",
      commands: `git checkout -q "$BEFORE"; fails deploy -c canary=false
        git checkout -q main -- infra/environments.ts; npx cdk synth --quiet --output cdk.out -c canary=false
        git checkout -qf main; deploy --app cdk.out; kept production; cancel 6; items "$NEW_orders" | grep "^6.cancelled"`,
    },
    {
      meanwhile: "the table of orders is restored once more",
      commands: `FORMER=$NEW_orders; admin orders restore --time "$(date -u +%FT%TZ)" --table "$FORMER"; restored orders
        sed -i "s|$FORMER|$NEW_orders|; s|ordersStream: true|formerTables: { orders: '$FORMER' }, &|" infra/environments.ts
        merge "Restore again"; deploy -c canary=false --accept orders-table-in-use; kept production
        cancel 8; items "$NEW_orders" | grep "^8.cancelled"; in_stack "$NEW_orders"; in_stack "$FORMER"`,
    },
    {
      meanwhile: "the former table leaves the stack",
      commands: `sed -i "s|formerTables: { orders: '$FORMER' }, ||" infra/environments.ts; merge "Leave the former table"
        fails deploy; removed=$(OTHERWISE=:; npm run compare -- production | grep -o "table-removed:\\w*" | sort -u)
        deploy --accept "$removed"; kept production; fails in_stack "$FORMER"; items "$FORMER" | grep "^8.pending"`,
    },
  ],
  "When an alarm goes off": [
    { run: "aws cloudformation list-stack-resources", check: "printed '^CancelOrderLog\\w+\\t\\S+$'" },
    { skip: "aws logs tail", because: newerCommandLine },
  ],
  "Delete a stack": [
    { run: "npx cdk destroy", check: '[ -z "$(tables staging)" ]' },
    { run: "aws cloudformation update-termination", check: "[ $(tables production | wc -l) = 5 ]" },
    {
      run: "aws dynamodb list-tables",
      check: "[ $(tables production | wc -l) = 4 ]",
      values: { NAME: "$(tables production-ApiKeys | head -1)" },
    },
    {
      meanwhile: "a first deployment of production fails, because its hosted zone is elsewhere",
      commands: `zone="hostedZone: { id: 'Z1', name: 'example.com' }"; arn=arn:aws:acm:us-east-1:000000000000:certificate/1
        set_production "domain: { name: 'orders.example.com', certificateArn: '$arn', $zone, keepGatewayAddress: true }"
        fails deploy`,
    },
    {
      run: "aws cloudformation describe-stack-events",
      check: `printed 'hosted zone'; printed '"Count": 1'`,
      values: { NAME: "$(tables production-Orders | head -1)" },
    },
  ],
};
