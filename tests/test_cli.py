"""The command line as a newcomer meets it: help, exit codes, messages, no traceback."""

import io
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from judgelab.cli import app, main
from judgelab.cli.files import OUT
from judgelab.simulate import Judge, draw_pairs, simulate

TOP = Path(__file__).parent.parent
COMMANDS = ("check", "report", "compare", "plan", "reproduce", "fetch")


def process(*arguments, cwd=None):
    """Run as a process of its own, as a reader does."""
    return subprocess.run(
        [sys.executable, "-m", "judgelab", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(TOP), "PYTHONUTF8": "1"},
    )


def run(*arguments, status=0):
    """Run the same in this process, where no start-up time is lost."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["judgelab", *map(str, arguments)])
        patch.setattr(OUT, "width", 120)
        with (
            redirect_stdout(out),
            redirect_stderr(err),
            pytest.raises(SystemExit) as ended,
        ):
            main()
    assert (ended.value.code or 0) == status, out.getvalue() + err.getvalue()
    return out.getvalue(), err.getvalue()


def quick(*arguments):
    """Run the commands alone, without what turns errors into messages."""
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    pairs = draw_pairs(120, rng=1)
    model = simulate(Judge(k=3, beta=1, name="model"), pairs, rng=1)
    humans = [simulate(Judge(k=3, name=n), pairs, rng=k) for k, n in enumerate("ab")]
    people = pd.concat(humans)
    columns = ["judge", "item", "swapped", "verdict", "gold"]
    frame = pd.concat([model, people[~people["swapped"]]])[columns]
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def wrong(tmp_path):
    path = tmp_path / "wrong.csv"
    path.write_text("judge,item,verdict\nx,1,A\nx,2,perhaps\n,3,B\n")
    return path


def test_a_newcomer_is_told_what_there_is():
    out, _ = run("--help")
    for name in COMMANDS:
        assert name in out
    for name in COMMANDS:
        text = " ".join(quick(name, "--help").stdout.split())
        assert "status 0" in text, f"{name} does not say how it ends"


def test_check_of_good_records(votes):
    out, err = run("check", votes)
    assert "480 of 480 records valid" in out
    assert "Nothing is wrong" in out
    assert err == ""


def test_check_of_bad_records(wrong):
    out, _ = run("check", wrong, status=1)
    assert "1 of 3 records valid" in out
    assert "line 3: unknown verdict" in out
    assert "line 4: 'judge' is empty" in out
    assert "--word x=y" in out


def test_what_is_not_used_is_said(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("judge,item,verdict,lenght_a,note\nx,1,A,3,n\n")
    out, _ = run("check", path)
    assert "lenght_a" in out
    assert "meant as 'length_a'? --rename lenght_a=length_a" in out
    assert re.search(r"note\s+│ not used", out)
    _, err = run("report", path, "--format", "json")
    assert "the column lenght_a is not used; is it 'length_a'?" in err


def test_words_and_columns_are_translated(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_text('{"judge": "x", "item": 1, "winner": "model_a"}\n')
    _, err = run("check", path, status=2)
    assert "neither" in err
    done = quick("check", path, "--rename", "winner=verdict", "--word", "model_a=A")
    assert done.exit_code == 0, done.output


def test_a_file_from_a_european_spreadsheet(tmp_path):
    path = tmp_path / "votes.csv"
    text = "judge;item;order;winner\nx;1;AB;1\nx;1;BA;1\ny;1;AB;2\n"
    path.write_text(text, "utf-16")
    said = ["--separator", "semicolon", "--rename", "order=swapped"]
    said += ["--rename", "winner=verdict", "--word", "1=A", "--word", "2=B"]
    out, _ = run("check", path, *said, status=1)
    assert "lines 2, 3, 4: 'swapped' must be true or false" in out
    assert "orders={'x': True} is --order x=true" in out
    said += ["--order", "AB=false", "--order", "BA=true"]
    out, _ = run("check", path, *said)
    assert "3 of 3 records valid" in out
    _, err = run("check", path, *said[:-1], "BA=2", status=2)
    assert "write BA=true if it says" in err
    (tmp_path / "votes.tsv").write_text(text.replace(";", "\t"))
    out, _ = run("check", tmp_path / "votes.tsv", *said[2:])
    assert "Nothing is wrong" in out


def test_other_formats_are_suggested_not_guessed(tmp_path):
    path = tmp_path / "votes.jsonl"
    row = {
        "judge": "expert_1",
        "question_id": 81,
        "turn": 1,
        "model_a": "p",
        "model_b": "q",
        "winner": "tie",
    }
    path.write_text(json.dumps(row))
    _, err = run("check", path, status=2)
    assert "--as mt-bench" in err
    assert quick("check", path, "--as", "mt-bench").exit_code == 0


def test_numbers_as_verdicts_are_not_taken_in_silence(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("judge,item,verdict\nx,1,1\nx,2,2\n")
    out, _ = run("check", path)
    assert "read as codes: 0 is A, 1 is B, 2 is TIE" in out
    out, _ = run("check", path, "--word", "1=A", "--word", "2=B")
    assert "codes" not in out
    assert re.search(r"│ x\s+│\s+2 │\s+2 │ 1 │ 1 │", out)


def test_labels_stand_in_the_order_of_numbers(tmp_path):
    path = tmp_path / "ratings.csv"
    rows = [f"x,{n},{n}" for n in (1, 10, 2, 9)]
    path.write_text("\n".join(["judge,item,label", *rows]))
    out, _ = run("check", path)
    assert "given were 1,2,9,10" in out


def test_missing_partners_are_counted(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(
        "judge,item,verdict,swapped\nx,1,A,false\nx,1,B,true\nx,2,A,false\n"
    )
    done = quick("check", path)
    assert "1 pair without partner" in " ".join(done.stdout.split())


@pytest.mark.parametrize("form", ["html", "md", "json", "csv"])
def test_report_in_every_form(votes, tmp_path, form):
    path = tmp_path / f"report.{form}"
    done = quick("report", votes, "--against", "a", "--against", "b", "-o", path)
    assert done.exit_code == 0, done.output
    assert "wrote" in done.stdout
    text = path.read_text("utf-8")
    assert "model" in text
    shown = quick("report", votes, "--against", "a", "--against", "b", "--format", form)
    assert shown.stdout.rstrip("\n") == text.rstrip("\n")


def test_nothing_is_written_from_bad_records(wrong, tmp_path):
    target = tmp_path / "report.html"
    out, err = run("report", wrong, "-o", target, status=2)
    assert out == ""
    assert "'judge' is empty" in err
    assert "and 1 more kinds of trouble" in " ".join(err.split())
    assert not target.exists()


def test_several_files_are_one_study(votes, tmp_path):
    frame = pd.read_csv(votes)
    parts = []
    for name, rows in frame.groupby("judge"):
        parts.append(tmp_path / f"{name}.csv")
        rows.to_csv(parts[-1], index=False)
    options = ["--against", "a", "--against", "b", "--format", "json"]
    together = json.loads(quick("report", *parts, *options).stdout)
    whole = json.loads(quick("report", votes, *options).stdout)
    assert together["agreement"] == whole["agreement"]


def test_people_in_a_second_file(tmp_path):
    """Other names of columns, no judge in the one file, no answers in the other."""
    model, people = tmp_path / "model.csv", tmp_path / "people.csv"
    model.write_text(
        "Question ID,model_a,model_b,swapped,Winner\n"
        "q1,p,q,0,first\nq1,q,p,1,second\nq2,q,p,1,tie\n"
    )
    people.write_text("annotator,question,vote\nann,q1,A\nann,q2,B\n")
    names = ["Question ID=item", "Winner=verdict", "annotator=judge"]
    names += ["question=item", "vote=verdict"]
    said = [x for name in names for x in ("--rename", name)]
    said += ["--word", "first=A", "--word", "second=B"]
    out, _ = run("check", model, people, *said, status=1)
    assert "model.csv has no judge" in out or "no column 'judge'" in out
    assert "a column is added by --add COLUMN=VALUE" in out
    said += ["--add", "judge=gpt"]
    out, _ = run("check", model, people, *said, status=1)
    assert "all files as one, rows 4, 5: 'swapped' is empty" in out
    said += ["--add", "swapped=false"]
    out, _ = run("check", model, people, *said)
    assert "5 of 5 records valid" in out
    assert "added where lacking: judge gpt, swapped false" in out
    found, _ = run("report", model, people, *said, "--against", "ann", "--format=json")
    systems = json.loads(found)["systems"]
    assert [side["by"] for side in systems] == ["gpt", "ann"]
    assert all(side["games"] + side["left_out"] for side in systems)
    _, err = run("check", model, *said, status=2)
    assert "--rename names 'annotator', which is no column" in err


def test_one_judge_in_two_files_is_found(votes):
    out, _ = run("check", votes, votes, status=1)
    assert "all files as one, rows 1, 2, 3, 4, 5 and" in out
    done = run("report", votes, votes, status=2)
    assert "the same judge has several verdicts" in done[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "no such file.csv"], "there is no file"),
        (["report", "{votes}", "--against", "nobody"], "no judge is called 'nobody'"),
        (["report", "{votes}", "--format", "pdf"], "choose from html, md, json, csv"),
        (["report", "{votes}", "--ties", "x"], "choose from half, drop"),
        (["report", "{votes}", "-o", "/no/such/folder/r.html"], "could not write"),
        (["check", "{votes}", "--as", "x"], "no reader 'x'"),
        (["check", "{votes}", "--rename", "x"], "write OLD=NEW"),
        (["compare", "a", "nobody", "{votes}"], "no judge is called 'nobody'"),
        (["plan"], "say what is wanted"),
        (["plan", "--power", "0.8"], "--power needs --share"),
        (["plan", "--width", "3"], "width"),
        (["reproduce", "nothing"], "no source 'nothing'"),
        (["fetch", "nothing"], "no source 'nothing'"),
    ],
)
def test_errors_are_one_message_and_status_2(votes, arguments, message):
    out, err = run(*(a.format(votes=votes) for a in arguments), status=2)
    assert message in " ".join(err.split())
    assert out == ""


def test_a_process_has_no_traceback_and_its_status(wrong):
    done = process("report", wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'judge' is empty" in done.stderr
    assert "Traceback" not in done.stderr
    assert process("check", wrong).returncode == 1


def test_compare(votes):
    out, _ = run("compare", "model", "a", votes)
    assert "Agreement with the right answers" in out
    assert "difference" in out
    out, _ = run("compare", "model", "a", votes, "--against", "b")
    assert "120 shared items" in out


def test_plan():
    out, _ = run("plan", "--width", "0.1", "--share", "0.8", "--price", "0.5")
    assert "245" in out
    assert "122.50" in out
    out, _ = run("plan", "--power", "0.8", "--share", "0.6")
    assert "210" in out
    out, _ = run("plan", "--kappa", "0.6", "--width", "0.2", "--use", "0.5,0.5")
    assert "245" in out


def test_reproduce_one_source():
    out, _ = run("reproduce", "textbook")
    assert "Feinstein" in out
    assert "exact" in out
    brief, _ = run("reproduce", "textbook", "--brief")
    assert len(brief.splitlines()) < len(out.splitlines()) / 3


def test_a_mismatch_ends_with_status_1(monkeypatch):
    from judgelab.papers import textbook
    from judgelab.papertable import Cell, PaperTable

    table = PaperTable("A paper", "Table 1", [Cell("judge X", 66, 0.75, scale=100)])
    monkeypatch.setattr(textbook, "reproduce", lambda: [table])
    done = quick("reproduce", "textbook")
    assert done.exit_code == 1
    assert "MISMATCH: A paper, Table 1: judge X" in done.stderr


def test_fetch_lists_and_finds(tmp_path, monkeypatch):
    out, _ = run("fetch")
    assert "mtbench" in out
    monkeypatch.setenv("JUDGELAB_DATA", str(tmp_path / "none"))
    _, err = run("fetch", "mtbench", status=2)
    assert "JUDGELAB_DATA" in err


@pytest.mark.parametrize(
    ("name", "header", "message"),
    [
        ("v.csv", "judge;item;verdict", "between semicolons, pass separator=';'"),
        ("v.csv", "judge;item;verdict", "Here separator=';' is --separator semicolon"),
        ("v.csv", "judge\titem\tverdict", "a tab --separator tab"),
        ("v.tsv", "judge,item,verdict", "between commas"),
        ("v.csv", "Judge,Item,Verdict", "rename={'Verdict': 'verdict'} if that is it"),
        ("v.csv", "judge, item, verdict", "{' verdict': 'verdict'}"),
        ("v.xlsx", "PK", "save the sheet as CSV UTF-8"),
        ("v.json", "[]", "one object per line"),
        ("v.txt", "judge,item,verdict", "rename it"),
        ("v", "judge,item,verdict", "a name without ending is not"),
    ],
)
def test_what_a_spreadsheet_saves_is_named_with_what_to_do(
    tmp_path, name, header, message
):
    path = tmp_path / name
    path.write_text(header + "\nx,1,A\n")
    _, err = run("check", path, status=2)
    assert message in " ".join(err.split())


def test_arguments_are_called_as_on_the_command_line(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("judge,item,label\nx,1,1.5\ny,1,2\n")
    out, _ = run("check", path)
    assert "needs --scale" in out
    done = process("report", path)
    assert done.returncode == 2
    assert "is --scale 1,2,3" in done.stderr
    run("report", path, "--scale", "1,1.5,2")
    for scale in ("1-5", "1,,2", "1,1,2"):
        assert (
            "write every label once"
            in run("report", path, "--scale", scale, status=2)[1]
        )


def test_a_source_has_one_name_however_it_is_written(tmp_path, monkeypatch):
    assert run("reproduce", "MT-Bench", "--brief") == run(
        "reproduce", "mt_bench", "--brief"
    )
    # Where the folder is not whole, either name is known and says so.
    monkeypatch.setenv("JUDGELAB_DATA", str(tmp_path))
    (tmp_path / "mtbench").mkdir()
    for name in ("mt_bench", "mtbench"):
        assert "lacks 2 of 2 files" in run("fetch", name, status=2)[1]


def test_help_breaks_lines_where_the_terminal_does():
    """No line of a docstring is broken in the middle, then again by the terminal."""
    for name in COMMANDS:
        lines = [x.strip() for x in quick(name, "--help").stdout.splitlines()]
        text = lines[: next(k for k, x in enumerate(lines) if x.startswith("╭"))]
        for above, below in itertools.pairwise(text):
            word = below.split(" ", 1)[0]
            assert not (above and below) or len(above) + 1 + len(word) > 76


def test_names_that_look_like_markup_are_shown_as_they_are(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("judge,item,verdict\n[bold red]x[/],1,A\n[link=y]z,1,B\n")
    out, _ = run("check", path)
    assert "[bold red]x[/]" in out
    assert "[link=y]z" in out


def test_the_readme_in_a_clean_folder(tmp_path):
    """What stands in README under "Check your own judge", pasted."""
    text = (TOP / "README.md").read_text("utf-8")
    part = text[text.index("## Check your own judge") :]
    part = part[: part.index("\n## ", 5)]
    csv_text, commands = re.findall(r"```(?:csv|sh)\n(.*?)```", part, re.S)[:2]
    (tmp_path / "votes.csv").write_text(csv_text)
    for line in commands.splitlines():
        if line.startswith("judgelab "):
            done = process(*shlex.split(line, comments=True)[1:], cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert done.stderr == ""
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Can this judge be trusted?" in page
