"""Makes the calls that come as lines of JSON, and prints what each comes to."""

import json
import sys
import traceback

import orders_client

orders_client.random.random = lambda: 0.5
for line in sys.stdin:
    call = json.loads(line)
    pauses = []
    orders_client.time.sleep = pauses.append
    outcome = {"result": "cancelled", "pauses": pauses, "message": "", "shown": ""}
    try:
        client = orders_client.OrdersClient(call["baseUrl"], call["apiKey"], call["timeout"] / 1000)
        if "cancel" in call:
            client.cancel_order(json.loads(call["cancel"]))
        else:
            outcome["result"] = json.dumps(client.list_orders(), separators=(",", ":"))
    except Exception as error:
        name, status, code = type(error).__name__, "", ""
        if isinstance(error, orders_client.ApiError):
            status, code = error.status or "", error.code or ""
        outcome["result"] = f"{name} {status} {code}".strip()
        outcome["message"] = str(error)
        outcome["shown"] = f"{traceback.format_exc()}{vars(error)}{error.__context__!r}"
    print(json.dumps(outcome), flush=True)
