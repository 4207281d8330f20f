"""Bounds for what browsers send, around Streamlit's runtime: the same under serve.py and under app.py.

Streamlit itself ends a connection whose message is larger than `server.maxWidgetStateSize`, before it reads it. What a
smaller message holds is looked at here, before anything acts on it. Files are counted when they have arrived. Last come
the headers of answers, and titles and the look in the HTML of pages.
"""

import logging
import re
from html import escape
from typing import Any, Literal, NoReturn
from weakref import WeakKeyDictionary

import streamlit as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specviz.core.errors import InputError, hide_folders
from specviz.core.files import BROWSER
from specviz.core.once import cache_once
from specviz.core.operator_settings import check_operator_settings, operator_setting
from specviz.data.links.page_names import PAGES, TITLES, page_name
from specviz.data.texts import page_texts
from specviz.service.sessions import is_public, normal_address
from specviz.ui.shared import below_streamlit as below
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import notices
from specviz.ui.shared.theme import PROJECT

SAYS = page_texts("shared")
ABOUT = page_texts("descriptions")
SLOWEST = 30.0  # seconds for the head of a request, and for the next part of its body


@cache_once
def guard_the_doors() -> None:
    """Begin, once for the server, before the first page is drawn.

    InputError: a setting of the operator's is wrong.
    """
    check_operator_settings()
    below.answer_through(Answers)
    below.end_half_sent_requests(SLOWEST)
    below.end_connections_quietly()
    below.refuse_messages(is_forged)
    below.look_at_files(accept_file)
    below.store_only_who_saw_a_page()
    below.bound_what_waits(MOST_WAITING)
    below.let_callbacks_end()
    below.hand_over_once()
    below.let_menus_hold_options()
    below.send_what_was_drawn()
    below.poll_one_at_a_time()


def refuse_to_start(why: InputError) -> NoReturn:
    """Under app.py, where the server is there before a setting is read: a page says what is wrong, and nothing else."""
    logging.getLogger(__name__).error("%s", why)
    notices([hide_folders(str(why))], "error")
    st.stop()


# ---- messages

SENT = {"rerun_script", "file_urls_request", "app_heartbeat", "stop_script", "backend_operation_request"}
MOST_ITEMS = 2_000  # of all lists in one message; a page has about 200 widgets
MOST_CHARACTERS = 2_000  # of an address, and of each name beside it
MOST_VALUES = 2_000  # characters that a component sends outside of its texts, and quotes


def is_forged(message: below.BackMsg) -> bool:
    """Whether no page of this app sends this."""
    if message.WhichOneof("type") not in SENT:
        return True
    run = message.rerun_script
    here = run.context_info
    names = (here.url, here.timezone, here.locale, run.fragment_id, run.page_name, run.page_script_hash)
    if max(map(len, names)) > MOST_CHARACTERS or items_in(message) > MOST_ITEMS:
        return True
    if len(message.file_urls_request.file_names) > MOST_FILES:
        return True
    values = (value for each in run.widget_states.widgets for value in (each.json_value, each.json_trigger_value))
    return any(map(_is_dense, values))


def items_in(message: Any, room: int = MOST_ITEMS) -> int:
    """The items of all lists in a protobuf message, at any depth; one more than `room` where there are more."""
    found = 0
    for field, value in message.ListFields():
        parts = value if field.is_repeated else [value]
        found += len(value) if field.is_repeated else 0
        if found <= room and field.message_type:
            found += sum(items_in(part, room - found) for part in parts)
        if found > room:
            return room + 1
    return found


def _is_dense(value: str) -> bool:
    """Whether a component's JSON holds more than a few texts: values in memory take 30 times their text."""
    if len(value) <= MOST_VALUES:
        return False
    bare = value.replace("\\\\", "").replace('\\"', "")
    return bare.count('"') > MOST_VALUES or sum(map(len, bare.split('"')[::2])) > MOST_VALUES


# ---- files

MOST_FILES = 12  # of a session
SESSION_BYTES = 12 * 10**6
ADDRESS_BYTES = 60 * 10**6  # of all sessions from one public address: a class behind one router has one
ALL_BYTES = 150 * 10**6
NoRoom = Literal["full_visitor", "full_network", "full_server"]  # why there is no room, by the name of its sentence

MOST_WAITING = 16 * 10**6  # bytes for a browser that does not read them: the largest message twice


def accept_file(held: below.Held, session: str, size: int) -> None:
    """HTTPException: there is no room for it."""
    if problem := explain_no_room({session: [], **held}, session, size):
        tell_page(session, problem)
        raise HTTPException(413, SAYS[problem])


def explain_no_room(held: below.Held, session: str, size: int) -> NoRoom | None:
    """Why a file of so many bytes has no place beside those that are held; None: it has one."""
    sums = {each: sum(files) for each, files in held.items()}
    if sums[session] + size > SESSION_BYTES or len(held[session]) >= MOST_FILES:
        return "full_visitor"
    address = address_of(session)
    here = size + sum(sums[each] for each in sums if address_of(each) == address)
    if here > ADDRESS_BYTES and is_public(address):
        return "full_network"
    return "full_server" if size + sum(sums.values()) > ALL_BYTES else None


def address_of(session: str) -> str:
    """The internet address of a visitor who is there; empty where it is not known."""
    return normal_address(below.remote_address(session))


_REFUSED: WeakKeyDictionary[below.AppSession, NoRoom] = WeakKeyDictionary()  # why, until the page has said it


def tell_page(session: str, problem: NoRoom) -> None:
    """Have the visitor's page say it: its uploader knows only the number 413."""
    if found := below.session_called(session):
        _REFUSED[found] = problem
        below.run_again(found)


def show_refusal() -> None:
    """Say why the file that this visitor has just sent was refused; once, above whatever is on the page."""
    found = below.session_called(below.session_id()) if _REFUSED else None
    if found and (problem := _REFUSED.pop(found, None)):
        st.toast(plain(SAYS[problem]), icon=":material/error:", duration="infinite")


# ---- answers

TITLE = re.compile(rb"<title>.*?</title>", re.DOTALL)
BODY_END = b"</body>"
AS_IT_IS = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}  # without them: the whole, as text
OF_THE_FILE = {b"content-length", b"etag", b"last-modified", b"accept-ranges"}  # no longer true of what is sent

LONGEST_NAME = 255  # bytes of a file's name


@cache_once
def _look() -> bytes:
    return b'<style id="first-look">%s</style>' % (BROWSER / "styles" / "app.css").read_bytes()


def as_page(html: bytes, title: str, description: str) -> bytes:
    """Streamlit's HTML with what a page is, and with the app's style before the first part of the page is there.

    The style is after the head: Streamlit's own comes before it. The page brings the same again, before the styles of
    its view; then assets/browser/components/frame.ts takes this away.
    """
    title, words = escape(f"{title} · {PROJECT}"), escape(description)
    tags = (
        f'<title>{title}</title><meta name="description" content="{words}">'
        f'<meta property="og:title" content="{title}"><meta property="og:description" content="{words}">'
        '<meta property="og:type" content="website"><meta name="twitter:card" content="summary">'
    )
    return TITLE.sub(lambda _: tags.encode(), html, count=1).replace(BODY_END, _look() + BODY_END, 1)


class Answers:
    """ASGI middleware around Streamlit: headers on every answer, titles and the look in the pages' HTML, and the way
    from their addresses of before.

    No address goes to another site, since a teacher's link holds a secret. Files of static/ go out as they are:
    Streamlit would compress them again for every visitor.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        sites = operator_setting("SPECVIZ_FRAMES").split()
        frames = "'none'" if sites == ["none"] else f"'self' {' '.join(sites)}"
        self._headers = [(b"referrer-policy", b"same-origin"), (b"x-content-type-options", b"nosniff")]
        self._headers += [(b"content-security-policy", f"frame-ancestors {frames}".encode())] if sites else []
        self._shows_metrics = operator_setting("SPECVIZ_METRICS") == "1"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        whole_path = scope.get("path", "")
        path = whole_path.removeprefix(scope.get("root_path", ""))
        address = path.strip("/") or PAGES[0]
        page = page_name(address) if scope["method"] == "GET" else None
        start: Message = {}  # of an answer that is a page's HTML
        html = bytearray()

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
                kind = Headers(scope=message).get("content-type", "") if message["status"] == 200 else ""
                if page and kind.startswith("text/html"):
                    return start.update(message)
            elif page and start:
                html.extend(message.get("body", b""))
                if message.get("more_body"):
                    return
                body = as_page(bytes(html), TITLES[page], ABOUT[page])
                length = (b"content-length", str(len(body)).encode())
                await send({**start, "headers": [*_drop_headers(OF_THE_FILE, start), length]})
                message = {"type": "http.response.body", "body": body}
            await send(message)

        if self._is_hidden(whole_path):
            return await Response(status_code=404)(scope, receive, sent)
        if page and page != address:  # relative: a proxy may have a folder before
            query = scope["query_string"].decode("latin-1")
            today = f"{'../' * path.endswith('/')}{page}{'?' * bool(query)}{query}"
            return await Response(status_code=307, headers={"location": today})(scope, receive, sent)
        dropped = AS_IT_IS if page else {b"accept-encoding"} if "/app/static/" in whole_path else set()
        await self._app({**scope, "headers": _drop_headers(dropped, scope)}, receive, sent)

    def _is_hidden(self, path: str) -> bool:
        """Streamlit's figures, and names that no file can have: Streamlit would log a traceback for each."""
        if any(len(name.encode()) > LONGEST_NAME for name in path.split("/")):
            return True
        return path.rstrip("/").endswith("/_stcore/metrics") and not self._shows_metrics


def _drop_headers(names: set[bytes], message: Message) -> list[tuple[bytes, bytes]]:
    return [header for header in message["headers"] if header[0].lower() not in names]
