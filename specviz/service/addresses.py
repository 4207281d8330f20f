"""A visitor's internet address, for sharing turns and as the one limit on how many sessions work at once."""

from ipaddress import IPv6Address, ip_address, ip_network

HOME_NETWORK = 64  # leading bits of an IPv6 address that one household or one server has; the rest it can choose


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


def is_public(address: str) -> bool:
    """Whether it is on the open internet. A private one can be a proxy's, and then it is everybody's."""
    return bool(address) and ip_address(address).is_global
