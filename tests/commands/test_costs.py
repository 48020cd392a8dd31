"""``budgetprune costs init``: a price list to fill in, which fit then takes."""

from __future__ import annotations

from .commands import FOREST, check_refused


def test_there_and_back(files, run, tmp_path):
    costs = tmp_path / "costs.csv"
    said = run("costs", "init", files.data, "--target", "ill", "--out", costs)
    assert said.status == 0
    assert f"budgetprune fit {files.data} --target ill --costs {costs} --budget" in said.out.replace(
        "\n", " "
    )
    lines = costs.read_text().splitlines()
    assert lines[0] == "feature,cost,source,note"
    assert [line.partition(",")[0] for line in lines[1:]] == [
        "age",
        "town",
        "smoker",
        "grade",
        "lab",
        "marker",
    ]
    words = [*FOREST, files.data, "--target", "ill", "--costs", costs, "--trees", 5, "--out", tmp_path / "m"]
    check_refused(run(*words), "has no cost yet for 'age', 'town', 'smoker', 'grade', 'lab', 'marker'")
    costs.write_text(costs.read_text().replace(",,,", ",2,,"))
    told = run(*words, "--budget", 9, "--json").json
    assert told["compared"]["whole"]["cost"] > 9 >= told["compared"]["chosen"]["cost"]


def test_a_list_is_not_overwritten(files, run, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("mine")
    words = ["costs", "init", files.data, "--target", "ill", "--out", costs]
    check_refused(run(*words), "costs.csv is there already, .* add --force")
    assert costs.read_text() == "mine"
    assert run(*words, "--force", "--drop", "age").status == 0
    assert "town" in costs.read_text()
    assert "age" not in costs.read_text()


def test_to_the_screen(files, run):
    said = run("costs", "init", files.data, "--target", "ill", "--categorical", "grade")
    assert said.out.startswith("feature,cost,source,note\nage,,,numbers from 20 to 89")
    assert "3 categories: 1, 2, 3" in said.out
    check_refused(run("costs", "init", files.data, "--target", "il"), r"did you mean 'ill'\?")
    check_refused(run("costs", "init", files.data), "--target COLUMN")


def test_for_scripts(files, run, tmp_path):
    words = ["costs", "init", files.data, "--target", "ill", "--drop", "age", "--json", "--quiet"]
    names = ["town", "smoker", "grade", "lab", "marker"]
    told = run(*words).json
    assert (told["columns"], told["target"], told["written"]) == (names, "ill", None)
    assert told["template"].startswith("feature,cost,source,note\ntown,,,")
    costs = tmp_path / "costs.csv"
    assert run(*words, "--out", costs).json["written"] == str(costs)
    assert costs.read_text().count("\n") == 6


def test_help_says_how(run):
    said = " ".join(run("costs", "init", "--help").out.split())
    assert '",10,blood draw"' in said
