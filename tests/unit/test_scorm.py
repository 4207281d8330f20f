"""A lesson as a SCORM 1.2 package: what is in the zip, and what its manifest says."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from specviz.cli.main import main
from specviz.data.lessons.plans import LessonPlan, all_plans
from specviz.data.lessons.story import quiz
from specviz.player.offline import lesson_page
from specviz.player.scorm import ADL, CP, manifest, scorm_package


def unpacked(package: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(
    ("name", "identifier"), [("My plan (1)", "My_20plan_20_281_29"), ("计划~", "_E8_AE_A1_E5_88_92_")]
)
def test_the_name_of_a_teachers_plan_makes_an_xml_name(name: str, identifier: str) -> None:
    """Before: "specviz-My plan (1)", which is none."""
    root = ElementTree.fromstring(manifest(replace(all_plans()[0], name=name)))
    assert root.get("identifier") == f"specviz-{identifier}"


@pytest.mark.parametrize("plan", all_plans(), ids=lambda plan: plan.name)
def test_the_manifest_names_one_page_with_every_moment_and_question(plan: LessonPlan) -> None:
    """The order of elements, the required attributes and the values are those of ADL's schema for SCORM 1.2."""
    files = unpacked(package := scorm_package(plan))
    assert package == scorm_package(plan), "the same bytes each time"
    root = ElementTree.fromstring(files["imsmanifest.xml"])
    assert root.tag == f"{{{CP}}}manifest"
    assert root.get("identifier") == f"specviz-{plan.name}"
    assert [child.tag.rpartition("}")[2] for child in root] == ["metadata", "organizations", "resources"]
    assert [child.text for child in root[0]] == ["ADL SCORM", "1.2"]
    (organisation,) = root[1]
    assert root[1].get("default") == organisation.get("identifier")
    title, item = organisation
    assert title.text == plan.title
    (resource,) = root[2]
    assert item.get("identifierref") == resource.get("identifier")
    assert resource.get(f"{{{ADL}}}scormtype") == "sco"
    assert resource.get("type") == "webcontent"
    assert (
        {each.get("href") for each in resource}
        == {resource.get("href")}
        == {"index.html"}
        == set(files) - {"imsmanifest.xml"}
    )
    page = files["index.html"].decode()
    assert page.count('<fieldset class="asked"') == len(quiz())
    assert page.count('class="meaning"') == sum(len(question.options) for question in quiz())
    assert page.count("data-moment=") == len(plan.moments)
    assert '<fieldset class="asked"' not in lesson_page(plan), "a lesson for a file has no questions"


def test_the_command_writes_a_package(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "lesson.zip"
    assert main(["export", "lesson", "ten-minutes", "--scorm", "-o", str(out)]) == 0
    assert "a SCORM 1.2 package" in capsys.readouterr().out
    assert set(unpacked(out.read_bytes())) == {"imsmanifest.xml", "index.html"}
