"""Uses the generated client as a caller would, and prints a line for each thing it saw."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from store import AuthenticatedClient
from store.api.orders import cancel_order, list_orders
from store.models import Error, Order
from store.types import Unset

SMALLEST = -(2**63)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def main() -> None:
    store = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])
    stranger = AuthenticatedClient(base_url=os.environ["BASE_URL"], token="no key")
    later = AuthenticatedClient(base_url=os.environ["LATER_BASE_URL"], token="any key")

    report("list", lambda: list_all(store))
    report("cancel", lambda: cancel(store, SMALLEST))
    report("cancel again", lambda: cancel(store, SMALLEST))
    report("cancel no order", lambda: cancel(store, 404))
    report("list without a key", lambda: list_all(stranger))
    report("list later", lambda: list_all(later))
    report("cancel later", lambda: cancel(later, 1))


def report(step: str, take: Callable[[], str]) -> None:
    try:
        saw = take()
    except Exception as error:
        saw = f"error: {error!r}"
    print(f"{step}: {saw}")


def list_all(client: AuthenticatedClient) -> str:
    response = list_orders.sync_detailed(client=client)
    if isinstance(response.parsed, Error):
        return f"{response.status_code} {response.parsed.code}"
    return " ".join(describe(order) for order in response.parsed or [])


def cancel(client: AuthenticatedClient, order_id: int) -> str:
    response = cancel_order.sync_detailed(order_id, client=client)
    if isinstance(response.parsed, Error):
        return f"{response.status_code} {response.parsed.code}"
    return str(response.status_code)


def describe(order: Order) -> str:
    return ",".join(text(field) for field in (order.id, order.pet_id, order.quantity, order.ship_date, order.complete))


def text(field: int | bool | datetime | Unset) -> str:
    match field:
        case Unset():
            return "-"
        case datetime():
            return str((field - EPOCH) // timedelta(milliseconds=1))
        case _:
            return str(field).lower()


if __name__ == "__main__":
    main()
