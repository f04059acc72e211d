"""Writes orders with boto3. Each line on standard input is a call; its outcome is printed."""

import json
import sys

import boto3
import write_orders

for line in sys.stdin:
    verb, endpoint, *arguments = json.loads(line)
    client = boto3.client("dynamodb", endpoint_url=endpoint)
    try:
        outcome = getattr(write_orders, f"{verb}_order")(client, *arguments)
    except Exception as error:
        outcome = str(error)
    print(json.dumps(outcome), flush=True)
