"""Makes the calls that come as lines of JSON, and prints what each comes to."""

import json
import random
import re
import sys
import time
import traceback

exec(sys.argv[1])
random.random = lambda: 0.5
for line in sys.stdin:
    call = json.loads(line)
    pauses = []
    time.sleep = pauses.append
    outcome = {"result": "cancelled", "pauses": pauses, "message": "", "shown": ""}
    operation = ["GET", "/store/orders"]
    if "cancel" in call:
        operation = ["DELETE", f"/store/orders/{json.loads(call['cancel'])}"]
    try:
        orders = call_api(call["baseUrl"], call["apiKey"], *operation, call["timeout"] / 1000)
        if "cancel" not in call:
            outcome["result"] = json.dumps(orders, separators=(",", ":"))
    except Exception as error:
        name, status, code, outcome["message"] = type(error).__name__, "", "", str(error)
        if isinstance(error, ApiError):
            status, code, outcome["message"] = error.args
        # Any other code isn't the API's own, so it says nothing.
        is_code = isinstance(code, str) and re.fullmatch("[a-z_]+", code)
        outcome["result"] = f"{name} {status or ''} {code if is_code else ''}".strip()
        outcome["shown"] = f"{traceback.format_exc()}{vars(error)}{error.__context__!r}"
    print(json.dumps(outcome), flush=True)
