"""A lesson as a SCORM 1.2 package: one zip that learning systems take (ADL, "SCORM 1.2 Content Aggregation Model").

The manifest has one organisation with one item, which is one page. The page asks for no score to pass: it reports how
many of the first choices were right, and that it was completed.
"""

import io
import zipfile
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, register_namespace, tostring

from specviz.data.lessons.plans import LessonPlan
from specviz.data.lessons.story import quiz
from specviz.player.offline import lesson_page

CP, ADL = "http://www.imsproject.org/xsd/imscp_rootv1p1p2", "http://www.adlnet.org/xsd/adlcp_rootv1p2"
PAGE = "index.html"
WRITTEN = (1980, 1, 1, 0, 0, 0)  # of every file in the package, so that the same lesson gives the same bytes


def scorm_package(plan: LessonPlan, address: str | None = None) -> bytes:
    """The zip: imsmanifest.xml and the lesson. InputError: the page would be larger than 2 MB."""
    files = {"imsmanifest.xml": manifest(plan), PAGE: lesson_page(plan, address, quiz()).encode()}
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, WRITTEN), content, zipfile.ZIP_DEFLATED)
    return package.getvalue()


def manifest(plan: LessonPlan) -> bytes:
    """imsmanifest.xml, in the order of elements that the schema has."""
    register_namespace("", CP)
    register_namespace("adlcp", ADL)
    root = Element(f"{{{CP}}}manifest", {"identifier": f"specviz-{_name(plan)}", "version": "1.0"})
    about = _below(root, "metadata")
    _below(about, "schema").text = "ADL SCORM"
    _below(about, "schemaversion").text = "1.2"
    organisation = _below(_below(root, "organizations", default="lesson"), "organization", identifier="lesson")
    _below(organisation, "title").text = plan.title
    item = _below(organisation, "item", identifier="page", identifierref="page-files", isvisible="true")
    _below(item, "title").text = plan.title
    resource = _below(
        _below(root, "resources"), "resource",
        identifier="page-files", type="webcontent", href=PAGE, **{f"{{{ADL}}}scormtype": "sco"},
    )  # fmt: skip
    _below(resource, "file", href=PAGE)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}'.encode()


def _name(plan: LessonPlan) -> str:
    """The plan's name as a part of an XML name, which has no spaces and no brackets."""
    return quote(plan.name, safe="").translate(str.maketrans("%~", "__"))


def _below(parent: Element, name: str, **attributes: str) -> Element:
    return SubElement(parent, f"{{{CP}}}{name}", attributes)
