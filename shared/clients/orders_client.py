"""Copy this file: Python 3.10 or newer, no packages. Every integer is exact."""

import gzip
import json
import random
import re
import sys
import time
import zlib
from http.client import HTTPException
from typing import Any, Callable
from urllib.parse import urlsplit
from urllib.request import HTTPErrorProcessor, Request, build_opener

if sys.version_info < (3, 10):
    raise ImportError("orders_client needs Python 3.10 or newer")

ATTEMPTS = 5

# Of these, some only come of lengths that can't be right.
_NO_RESPONSE = (
    EOFError,
    HTTPException,
    MemoryError,
    OSError,
    OverflowError,
    ValueError,
    zlib.error,
)


class ApiError(Exception):
    """A failed request. It never contains the API key.

    `status` is None when no whole response arrived, `code` in a response that isn't the API's own.
    `retry_after` is the least number of seconds to wait before another attempt, from 0 to 99.
    """

    def __init__(
        self,
        message: str,
        status: int | None = None,
        code: str | None = None,
        retry_after: int = 0,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = retry_after


class _EveryResponse(HTTPErrorProcessor):
    """Returns redirects and errors like any response: another host must not get the key."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


_opener = build_opener(_EveryResponse)


class OrdersClient:
    """`base_url` ends in `/v1`. A connection that is silent for `timeout` seconds is lost."""

    def __init__(self, base_url: str, api_key: str, timeout: float = 60) -> None:
        self._base_url = base_url.strip().rstrip("/")
        self._api_key = api_key.strip().strip("\ufeff")
        self._timeout = timeout
        # No message shows a parameter: it may be the key, in the wrong place.
        is_url = re.fullmatch("https?://[^?#@]+", self._base_url, re.IGNORECASE)
        try:
            url = urlsplit(self._base_url)
            has_host = url.port != 0 and bool((url.hostname or "").encode("idna"))
        except ValueError:
            has_host = False
        if not (is_url and has_host and re.fullmatch("[!-~]+", self._base_url)):
            raise ValueError("The base address must look like https://HOST/v1")
        if not re.fullmatch("[!-~]+", self._api_key):
            raise ValueError("The API key is empty or has a character that no key has")
        if not 0 < timeout <= 1_000_000:
            raise ValueError("The timeout must be a number of seconds, at most 1,000,000")

    def list_orders(self) -> list[dict]:
        def read(status: int, body: bytes) -> list[dict] | None:
            orders = _parse(body) if status == 200 else None
            return orders if isinstance(orders, list) else None

        return self._request("GET", "/store/orders", read)

    def cancel_order(self, order_id: int) -> None:
        """Returns once the order is cancelled, by this request or before."""
        if type(order_id) is not int:
            raise TypeError(f"{order_id!r} is not an int")

        def read(status: int, body: bytes) -> bool | None:
            is_repeated = status == 409 and _code_of(body) == "order_already_cancelled"
            return status == 204 or is_repeated or None

        self._request("DELETE", f"/store/orders/{order_id}", read)

    def _request(self, method: str, path: str, read: Callable) -> Any:
        """Sends a request, up to five times while another attempt may help."""
        for attempt in range(1, ATTEMPTS):
            try:
                return self._send(method, path, read)
            except ApiError as error:
                if not _may_pass(error):
                    raise
                time.sleep(error.retry_after + random.random() * 2 ** (attempt - 1))
        return self._send(method, path, read)

    def _send(self, method: str, path: str, read: Callable) -> Any:
        """Sends a request once. `read` returns what a success says, None for all else."""
        headers = {"Authorization": f"Bearer {self._api_key}", "Accept-Encoding": "gzip"}
        request = Request(self._base_url + path, method=method, headers=headers)
        lost = None
        try:
            with _opener.open(request, timeout=self._timeout) as response:
                body = response.read()
            coding = response.headers.get("Content-Encoding", "").strip().lower()
            if coding in ("gzip", "x-gzip"):
                body = gzip.decompress(body)
        except _NO_RESPONSE as error:
            lost = str(error) or type(error).__name__
        # Not above: an exception keeps the one that it was raised in.
        if lost is not None:
            raise ApiError(self._without_key(f"No whole response: {lost}"))
        status = response.status
        result = read(status, body)
        if result is not None:
            return result
        what = "is not a response of the orders API: " if status < 400 else ""
        message = self._without_key(f"{status} {what}{body.decode(errors='replace')}")
        retry_after = re.fullmatch("[0-9]{1,2}", response.headers.get("Retry-After", "").strip())
        raise ApiError(message, status, _code_of(body), int(retry_after[0]) if retry_after else 0)

    def _without_key(self, text: str) -> str:
        return text.replace(self._api_key, "API_KEY")[:500]


def _may_pass(error: ApiError) -> bool:
    """Whether another attempt may help."""
    if error.status is None:
        return not re.search("certificate|wrong version", str(error), re.IGNORECASE)
    return error.status in (200, 429) or error.status >= 500


def _code_of(body: bytes) -> str | None:
    document = _parse(body)
    code = document.get("code") if isinstance(document, dict) else None
    return code if isinstance(code, str) and re.fullmatch("[a-z_]+", code) else None


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (RecursionError, ValueError):
        return None
