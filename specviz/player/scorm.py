"""A lesson as a SCORM 1.2 package: one zip that learning systems take (ADL, "SCORM 1.2 Content Aggregation Model").

The manifest has one organisation with one item, which is one page. The page asks for no score to pass: it reports how
many of the first choices were right, and that it was completed.
"""

import io
import zipfile
from urllib.parse import quote

from specviz.data.lessons.plans import LessonPlan
from specviz.data.lessons.story import quiz
from specviz.data.texts import asset
from specviz.player.html_file import TEMPLATES
from specviz.player.offline import lesson_page

PAGE = "index.html"
WRITTEN = (1980, 1, 1, 0, 0, 0)  # of every file in the package, so that the same lesson gives the same bytes


def scorm_package(plan: LessonPlan, address: str | None = None) -> bytes:
    """The zip: imsmanifest.xml and the lesson. InputError: the page would be larger than 2 MB."""
    files = {"imsmanifest.xml": manifest(plan), PAGE: lesson_page(plan, address, quiz())}
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, WRITTEN), content, zipfile.ZIP_DEFLATED)
    return package.getvalue()


def manifest(plan: LessonPlan) -> str:
    # a part of an XML name, which has no spaces and no brackets
    name = quote(plan.name, safe="").translate(str.maketrans("%~", "__"))
    return TEMPLATES.from_string(asset("offline/imsmanifest.xml")).render(name=name, title=plan.title, page=PAGE)
