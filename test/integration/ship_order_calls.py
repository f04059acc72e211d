"""Ships the orders that come as lines, with the function of the page and a client like boto3's."""

import json
import sys


class ConditionalCheckFailedException(Exception):
    def __init__(self, response):
        self.response = response


class Client:
    class exceptions:
        ConditionalCheckFailedException = ConditionalCheckFailedException

    def update_item(self, **parameters):
        print(json.dumps(parameters), flush=True)
        answer = json.loads(sys.stdin.readline())
        if "failure" in answer:
            raise ConditionalCheckFailedException(answer["failure"])
        return answer["response"]


exec(sys.argv[1])
while line := sys.stdin.readline():
    try:
        outcome = ship_order(Client(), *json.loads(line))
    except RuntimeError as error:
        outcome = str(error)
    print(json.dumps(outcome), flush=True)
