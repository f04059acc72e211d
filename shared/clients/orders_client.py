"""Copy this file: Python 3.10 or newer, no packages. Every integer is exact."""

from __future__ import annotations

import json
import random
import time
from http.client import HTTPException
from json import JSONDecodeError
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ATTEMPTS = 5


class ApiError(Exception):
    """A response other than a success. A response of AWS's own has no code."""

    def __init__(self, status: int, body: str, retry_after: float) -> None:
        super().__init__(f"{status} {body}")
        self.status = status
        self.code = _code(body)
        self.retry_after = retry_after


def _code(body: str) -> str | None:
    try:
        return json.loads(body)["code"]
    except (LookupError, TypeError, ValueError):
        return None


class OrdersClient:
    """`base_url` ends in `/v1`. A connection that is silent for `timeout` seconds is lost."""

    def __init__(self, base_url: str, api_key: str, timeout: float = 60) -> None:
        self._base_url = base_url.removesuffix("/")
        self._api_key = api_key
        self._timeout = timeout

    def list_orders(self) -> list[dict]:
        return self._request("GET", "/store/orders")

    def cancel_order(self, order_id: int) -> None:
        """Returns once the order is cancelled, by this request or before."""
        if type(order_id) is not int:
            raise TypeError(f"{order_id!r} is not an int")
        try:
            self._request("DELETE", f"/store/orders/{order_id}")
        except ApiError as error:
            if error.code != "order_already_cancelled":
                raise

    def _request(self, method: str, path: str) -> Any:
        """Sends a request, up to five times while another attempt may help."""
        for attempt in range(1, ATTEMPTS):
            try:
                return self._send(method, path)
            except (ApiError, HTTPException, JSONDecodeError, OSError, UnicodeDecodeError) as error:
                pause = _pause_after(error, attempt)
                if pause is None:
                    raise
                time.sleep(pause)
        return self._send(method, path)

    def _send(self, method: str, path: str) -> Any:
        headers = {"Authorization": f"Bearer {self._api_key}"}
        request = Request(self._base_url + path, method=method, headers=headers)
        try:
            with urlopen(request, timeout=self._timeout) as response:
                return json.loads(response.read() or "null")
        except HTTPError as error:
            with error:
                retry_after = float(error.headers.get("Retry-After", 0))
                body = error.read().decode(errors="replace")
                raise ApiError(error.code, body, retry_after) from None


def _pause_after(error: Exception, attempt: int) -> float | None:
    """The seconds to wait before the next attempt, None when it can't help."""
    longer = random.random() * 2 ** (attempt - 1)
    if not isinstance(error, ApiError):
        return longer  # Lost, or cut off midway.
    if error.status == 429:
        return error.retry_after + random.random()
    return longer if error.status >= 500 else None
