"""Which jobs each session has, and from where it comes. The caller holds the service's lock; no threads here."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from ipaddress import IPv6Address, ip_address, ip_network

from specviz.service.job import Job, JobView, Slot
from specviz.service.protocol import Owners

HOME_NETWORK = 64  # leading bits of an IPv6 address that one household or one server has; the rest it can choose
BLOCKS = {4: 24, 6: 48}  # leading bits, by version, that neighbours have in common; who has one address may have others


@dataclass(slots=True)
class Ticket:
    """One session's claim to a job. Several sessions can have tickets for one job."""

    number: int
    session: str
    slot: Slot
    job: Job

    @property
    def view(self) -> JobView:
        return replace(self.job.view, job=self.number)

    def cancel(self) -> Job:
        """This session no longer wants the job, which is returned; what was found so far stays in its view."""
        job = self.job
        if not job.view.finished:
            self.job = Job(replace(self.view, state="cancelled"), job.command)
        return job


class Sessions:
    """Each session's latest ticket for every slot, of jobs that wait, run or are finished."""

    def __init__(self) -> None:
        self._tickets: dict[int, Ticket] = {}  # by number
        self._addresses: dict[str, str] = {}  # of the sessions that have arrived; see `normal_address`

    @property
    def arrived(self) -> set[str]:
        return set(self._addresses)

    def arrive(self, session: str, address: str) -> None:
        """The session is there, from this address; empty where it is not known."""
        self._addresses[session] = address

    def address(self, session: str) -> str:
        return self._addresses.get(session, "")

    def owners(self, session: str) -> Owners:
        """Whose turns its jobs take, as numbers that say nothing of them: its network's, its address's, its own."""
        address = self.address(session)
        return hash(address_block(address) or session), hash(address or session), hash(session)

    def count_others_at_work(self, session: str) -> int:
        """How many other sessions from the same address have a job that is not over."""
        at_work = {ticket.session for ticket in self._tickets.values() if not ticket.view.finished}
        here = self.address(session)
        return sum(self.address(other) == here for other in at_work - {session})

    def ticket(self, number: int) -> Ticket | None:
        """The ticket of this number; None where it was never there, was replaced, or its session has left."""
        return self._tickets.get(number)

    def ticket_of(self, session: str, slot: Slot) -> Ticket | None:
        return next((t for t in self._tickets.values() if (t.session, t.slot) == (session, slot)), None)

    def wanted(self, job: Job) -> bool:
        return any(ticket.job is job for ticket in self._tickets.values())

    def shared(self, key: str) -> list[Job]:
        """The jobs with this key that are not over and that some session wants."""
        return [ticket.job for ticket in self._tickets.values() if ticket.job.key == key and not ticket.view.finished]

    def save(self, ticket: Ticket) -> Ticket | None:
        """Save a ticket; returns the one that it replaces, which is forgotten."""
        if old := self.ticket_of(ticket.session, ticket.slot):
            del self._tickets[old.number]
        self._tickets[ticket.number] = ticket
        return old

    def forget(self, sessions: Collection[str]) -> list[Ticket]:
        """Forget these sessions; returns the tickets they had."""
        for session in sessions:
            self._addresses.pop(session, None)
        return [self._tickets.pop(each.number) for each in [*self._tickets.values()] if each.session in sessions]


def normal_address(text: str | None) -> str:
    """The address that stands for a visitor; empty where it is not known.

    An IPv6 visitor can have any number of addresses in one network, so the network stands for all of them.
    """
    try:
        address = ip_address(text or "")
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    if isinstance(address, IPv6Address):
        return str(ip_network((address, HOME_NETWORK), strict=False).network_address)
    return str(address)


def address_block(address: str) -> str:
    """The network around such an address; empty where it is not known."""
    if not address:
        return ""
    return str(ip_network((address, BLOCKS[ip_address(address).version]), strict=False))


def is_public(address: str) -> bool:
    """Whether it is on the open internet. A private one can be a proxy's, and then it is everybody's."""
    return bool(address) and ip_address(address).is_global
