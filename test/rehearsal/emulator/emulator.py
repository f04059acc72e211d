"""MiniStack, with what the service's stacks need and it lacks. Nothing here makes a check pass by itself."""

from asyncio import ensure_future
from base64 import b64decode
from functools import partial
from hashlib import sha256
from json import loads
from os import environ
from pathlib import Path
from re import sub
from time import sleep

from ministack import app
from ministack.services import apigateway_v1 as gateway, cloudformation, lambda_svc
from ministack.services.cloudformation import provisioners, stacks

handlers = provisioners._RESOURCE_HANDLERS

def instead_of(functions, name):
    """Puts a function in the place of another one, which it gets first."""
    return lambda function: functions.update({name: partial(function, functions[name])})

# Streaming: the gateway finds the function of such an integration, and hands on the bytes that awslambda.cjs collected.
instead_of(vars(gateway), "_extract_lambda_ref_from_integration_uri")(
    lambda original, uri: original(uri.replace("response-streaming-", ""))
)

@instead_of(vars(gateway), "_lambda_proxy_response")
def response_of(original, result):
    response, error = original(result)
    if response and response.pop("streamed", False):
        response["body"] = b64decode(response["body"])
    return response, error

# Authorizers: requests with one key that come at once share a call. Here, sixty functions can't start within 5 seconds.
authorizations = {}

@instead_of(vars(gateway), "_invoke_authorizer_lambda")
async def authorization_of(original, authorizer, event, *args):
    key = (authorizer["id"], event["authorizationToken"])
    if key not in authorizations:
        authorizations[key] = ensure_future(original(authorizer, event, *args))
        authorizations[key].add_done_callback(lambda _: authorizations.pop(key))
    return await authorizations[key]

# Bodies: the gateway takes no more than 10 MB.
@instead_of(vars(gateway), "_check_passthrough_behavior")
def error_of(original, integration, headers):
    too_large = int(headers.get("content-length", 0)) > 10 * 2**20
    return gateway._gw_error("REQUEST_TOO_LARGE", "") if too_large else original(integration, headers)

# Logs: awslambda.cjs writes Lambda's JSON format, but only MiniStack knows the request.
instead_of(vars(lambda_svc), "_emit_lambda_logs")(
    lambda original, function, request, log, *args, **named: original(
        function, request, log.replace('"requestId":""', f'"requestId":"{request}"'), *args, **named
    )
)

# Addresses: no name server knows the gateway's.
@instead_of(vars(stacks), "_resolve_stack_outputs")
def outputs_of(original, *args):
    outputs, exports = original(*args)
    address = rf"{environ['AWS_ENDPOINT_URL']}/_aws/execute-api/\1"
    for output in outputs:
        output["OutputValue"] = sub(r"^https://(\w+)\.execute-api\.[^/]+", address, output["OutputValue"])
    return outputs, exports

# Names: a stack's resources have others than those of an earlier stack with its name, as on AWS.
@instead_of(vars(provisioners), "_physical_name")
def name_of(original, stack_name, *args, **named):
    name = original(stack_name, *args, **named)
    suffix = sha256((name + cloudformation._stacks[stack_name]["StackId"]).encode()).hexdigest()[:13]
    return name[:-13] + (suffix if name.islower() else suffix.upper())

# Alarms on metric maths: they never go off, and are stored with the first metric of their formula.
@instead_of(vars(provisioners), "_cw_metric_alarm_record")
def alarm_of(original, name, alarm):
    metrics = [metric["MetricStat"]["Metric"] for metric in alarm.get("Metrics", []) if "MetricStat" in metric]
    return original(name, {**alarm, **metrics[0], "Metrics": None} if metrics else alarm)

# Versions: Lambda rejects one whose code and configuration equal the last one's. MiniStack's number changes every time.
@instead_of(handlers["AWS::Lambda::Version"], "create")
def create_version(original, logical_id, version, stack_name):
    function = provisioners._lambda_version_function(version)[0]
    configs = [function["versions"][str(number)]["config"] for number in sorted(map(int, function["versions"]))]
    settings = ("CodeSha256", "Environment", "Handler", "LoggingConfig", "MemorySize", "Role", "Runtime", "Timeout")
    if configs and all(configs[-1].get(name) == function["config"].get(name) for name in settings):
        raise ValueError(f"A version for this Lambda function exists ( {configs[-1]['Version']} )")
    return original(logical_id, version, stack_name)

# CodeDeploy: its resources exist. It moves an alias at once, unless an alarm is on or the alias was moved by hand. The
# file ROLLOUT says how it goes: "slow" is until it is cancelled, "alarm" goes off after one more alias.
nothing = {
    "create": lambda logical_id, properties, stack_name: (f"{stack_name}-{logical_id}", {}),
    "update": lambda physical_id, *_: (physical_id, {}),
    "delete": lambda *_: None,
}
handlers.update({"AWS::CodeDeploy::Application": nothing, "AWS::CodeDeploy::DeploymentGroup": nothing})
rollout = Path(environ["ROLLOUT"])

@instead_of(handlers["AWS::Lambda::Alias"], "update")
def update_alias(original, physical_id, old, new, stack_name, logical_id):
    stack = cloudformation._stacks[stack_name]
    if "UpdatePolicy" in loads(stack["_template_body"])["Resources"][logical_id]:
        updating = stack["StackStatus"] == "UPDATE_IN_PROGRESS"
        while updating and "slow" in rollout.read_text() and not stack.get("_cancel_requested"):
            sleep(0.2)
        if "on" in rollout.read_text():
            raise ValueError("CodeDeploy starts no deployment while an alarm is on")
        if "alarm" in rollout.read_text():
            rollout.write_text("alarm on")
        function = provisioners._lambda_function_for_cfn_ref(old["FunctionName"])[0]
        if function["aliases"][old["Name"]]["FunctionVersion"] != old["FunctionVersion"]:
            raise ValueError("The alias's version does not match the current version in AppSpec")
    return original(physical_id, old, new, stack_name, logical_id)

instead_of(vars(stacks), "_runs_on_worker_thread")(
    lambda original, resource_type: resource_type == "AWS::Lambda::Alias" or original(resource_type)
)

# Rollbacks: a resource whose rollback failed says so, and CDK sends an empty list of resources to skip.
@instead_of(vars(stacks), "_revert_update")
async def revert_update(original, *args):
    try:
        await original(*args)
    except ValueError:
        args[8]["ResourceStatus"] = "UPDATE_FAILED"
        raise

instead_of(cloudformation._ACTION_HANDLERS, "ContinueUpdateRollback")(
    lambda original, params: original({name: values for name, values in params.items() if values != [""]})
)

app.main()
