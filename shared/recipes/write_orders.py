"""Writes orders of the pet store, with a client from `boto3.client("dynamodb")`.

An order's id is an int; other ids and dates are strings. Attributes, values and an order that was
read are in DynamoDB's own format: {"petId": {"N": "104"}, "quantity": {"N": "2"}}.
"""

import re

from botocore.exceptions import ClientError


def place_order(client, table, order_id, placement_id, attributes):
    """Places an order. Its placement id tells it from an order that someone else placed.

    Raises ValueError unless its id is a 64-bit integer: clients could neither see nor cancel it.
    """
    if not isinstance(order_id, int) or not -(2**63) <= order_id < 2**63:
        raise ValueError("The id is not a 64-bit integer")
    found = _order_in_the_way(
        client.put_item,
        TableName=table,
        Item={
            **attributes,
            "id": {"N": str(order_id)},
            "status": {"S": "pending"},
            "placementId": {"S": placement_id},
        },
        ConditionExpression="attribute_not_exists(id)",
    )
    if found is None:
        return "placed"
    is_yours = found.get("placementId") == {"S": placement_id}
    return "already placed by you" if is_yours else "taken"


def ship_order(client, table, order_id, shipment_id, ship_date):
    """Ships an order: the parcel may leave only if this returns "shipped".

    The shipment's id and date tell it from a shipment by someone else, and from one of yours that
    was undone.
    """
    found = _order_in_the_way(
        client.update_item,
        TableName=table,
        Key={"id": {"N": str(order_id)}},
        UpdateExpression="SET #status = :shipped, complete = :true, "
        "shipDate = :date, shipmentId = :shipment",
        ConditionExpression="#status = :pending",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={
            ":pending": {"S": "pending"},
            ":shipped": {"S": "shipped"},
            ":true": {"BOOL": True},
            ":date": {"S": ship_date},
            ":shipment": {"S": shipment_id},
        },
    )
    if found is None:
        return "shipped"
    if not found:
        return "no such order"
    if found.get("status") == {"S": "cancelled"}:
        return "cancelled"
    if found.get("status") != {"S": "shipped"}:
        return "not pending"
    proof = (found.get("shipmentId"), found.get("shipDate"))
    is_yours = proof == ({"S": shipment_id}, {"S": ship_date})
    return "shipped" if is_yours else "shipped by someone else"


def correct_order(client, table, order, correction_id, name, value):
    """Corrects an attribute of a pending order, as it was read.

    The correction's id tells it from a correction by someone else, even from one that brought the
    old value back. Raises ValueError for the status, an id or a date that only another write may
    set.
    """
    if _OWNED_BY_WRITES.fullmatch(name):
        raise ValueError(f"{name} can't be corrected")
    was = {":was": order[name]} if name in order else {}
    found = _order_in_the_way(
        client.update_item,
        TableName=table,
        Key={"id": order["id"]},
        UpdateExpression="SET #name = :value, correctionId = :correction",
        ConditionExpression="#status = :pending "
        f"AND {'#name = :was' if was else 'attribute_not_exists(#name)'} "
        "AND (attribute_not_exists(correctionId) OR correctionId = :last)",
        ExpressionAttributeNames={"#status": "status", "#name": name},
        ExpressionAttributeValues={
            ":pending": {"S": "pending"},
            **was,
            ":last": order.get("correctionId", {"NULL": True}),
            ":value": value,
            ":correction": {"S": correction_id},
        },
    )
    if found is None or found.get("correctionId") == {"S": correction_id}:
        return "corrected"
    if not found:
        return "no such order"
    return "changed since" if found.get("status") == {"S": "pending"} else "not pending"


def reinstate_order(
    client, table, order_id, wrong_shipment_id, wrong_date, ship_date, reinstated_at
):
    """Makes an order pending again that was shipped by mistake: by that shipment, on that date."""
    found = _order_in_the_way(
        client.update_item,
        TableName=table,
        Key={"id": {"N": str(order_id)}},
        UpdateExpression="SET #status = :pending, complete = :false, "
        "shipDate = :date, reinstatedAt = :now REMOVE shipmentId",
        ConditionExpression="#status = :shipped AND shipDate = :wrong "
        "AND reinstatedAt <> :now "
        "AND (attribute_not_exists(shipmentId) OR shipmentId = :shipment)",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={
            ":shipped": {"S": "shipped"},
            ":wrong": {"S": wrong_date},
            ":shipment": {"S": wrong_shipment_id},
            ":pending": {"S": "pending"},
            ":false": {"BOOL": False},
            ":date": {"S": ship_date},
            ":now": {"S": reinstated_at},
        },
    )
    if found == {}:
        return "no such order"
    is_yours = found is None or found.get("reinstatedAt") == {"S": reinstated_at}
    return "reinstated" if is_yours else "changed since"


_OWNED_BY_WRITES = re.compile(
    "id|status|complete|(placement|shipment|correction|cancellation)Id|cancelled(At|By)|reinstatedAt"
)


def _order_in_the_way(write, **parameters):
    """Returns None once a write is applied, or the order that didn't meet its condition."""
    try:
        response = write(
            **parameters,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ReturnConsumedCapacity="TOTAL",
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
            raise
        return error.response.get("Item", {})
    # A lost response can reach boto3 as an empty 200.
    if "ConsumedCapacity" not in response:
        raise RuntimeError("The response is empty")
    return None
