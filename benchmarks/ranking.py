"""How long do rankings take, ours and those of other packages, in one run?

Every contender gets the input that it takes natively, made before the clock starts: we
arrays of positions; evalica lists of names as in its documentation, and also the
arrays, which it reads faster; choix its lists of pairs up to a million games, and a
matrix of counts (of which the counting is not on its clock); arenakit its own `Arena`.
Contenders of a task run in turn, several times, each time once before the clock starts
(what the one before left in the caches is nobody's merit or fault); the median counts.
Peers that would take minutes run fewer times, or on a stated part of the work that is
scaled up.

    pip install -e . -r benchmarks/requirements-ranking.txt
    python benchmarks/ranking.py            # some minutes; writes results/ranking.csv
    python benchmarks/ranking.py --only bootstrap

What is compared to what:

* Bradley–Terry: from games to ratings. Ours: counting, identifiability check, Newton,
  and with "intervals" the covariance too. evalica: its compiled Newman iteration with
  its own stopping rule (1e-6), in which it stops a little before the maximum. "read" is
  one pass over the games: the sum of winners and of losers. "NumPy only" is what runs
  where the loop that counts games could not be compiled.
* bootstrap: 1,000 resamples of 100,000 games. arenakit refits weighted counts;
  "FastChat's approach", written here from its description, draws rows with pandas and
  refits scikit-learn's logistic regression to them, 10 times, scaled to 1,000.
* judge × item: ratings of judges by conditional likelihood with clustered intervals.
  Beside it what the RankJudge repository does, written here from its description: MM
  over judges and items, then the sandwich by the pseudoinverse of the full information;
  and scikit-learn's logistic regression with a column per judge and item.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from judgelab._kernel import library
from judgelab.counts import win_counts
from judgelab.ranking import bradley_terry, rasch

SEED = 20240604
RESULTS = Path(__file__).parent / "results" / "ranking.csv"
Row = dict[str, Any]


def games(n: int, players: int, seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """Winners and losers; ratings from N(0, 1) logits, opponents at random."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=players)
    first = rng.integers(players, size=n)
    second = (first + rng.integers(1, players, size=n)) % players
    won = rng.random(n) < 1 / (1 + np.exp(theta[second] - theta[first]))
    return np.where(won, first, second), np.where(won, second, first)


def answers(judges: int, items: int, seed: int = SEED) -> np.ndarray:
    """Right and wrong, in blocks, so that the data do not need more than themselves."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(0, 1.5, judges).astype(np.float32)[:, None]
    scores = np.empty((judges, items), np.int8)
    for start in range(0, items, 5000):
        block = scores[:, start : start + 5000]
        gap = ability - rng.normal(0, 2, block.shape[1]).astype(np.float32)
        block[:] = rng.random(block.shape, np.float32) < 1 / (1 + np.exp(-gap))
    return scores


def race(task: str, contenders: dict[str, tuple[Callable[[], Any], int]]) -> list[Row]:
    """Run the contenders in turn and give each its median time, the first is ours."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    most = max(runs for _, runs in contenders.values())
    for turn in range(most):
        for name, (work, runs) in contenders.items():
            if turn < runs:
                work()
                start = time.perf_counter()
                work()
                times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in times.items()}
    ours = next(iter(medians.values()))
    return [
        {
            "task": task,
            "contender": name,
            "seconds": medians[name],
            "times_ours": medians[name] / ours,
            "runs": len(times[name]),
        }
        for name in contenders
    ]


def race_bradley_terry(n: int, players: int) -> list[Row]:
    import choix
    import evalica

    winners, losers = games(n, players)
    first = [evalica.Winner.X] * n
    names = np.array([f"m{k}" for k in range(players)], object)
    named = names[winners].tolist(), names[losers].tolist()
    wins = win_counts(winners, losers, players=players).astype(float)
    heavy = 3 if n > 10**6 else 9

    def ours() -> Any:
        return bradley_terry(win_counts(winners, losers, players=players))

    def uncompiled() -> Any:
        with mock.patch("judgelab.counts.count_pairs", return_value=None):
            return ours()

    contenders: dict[str, tuple[Callable[[], Any], int]] = {
        "judgelab": (ours, 15),
        "judgelab, NumPy only": (uncompiled, 15),
        "judgelab, with intervals": (lambda: ours().covariance, 5),
        "read": (lambda: (winners.sum(), losers.sum()), 15),
        "evalica, names": (lambda: evalica.bradley_terry(*named, first), heavy),
        "evalica, positions": (
            lambda: evalica.bradley_terry(winners, losers, first),
            heavy,
        ),
        "evalica (newman), positions": (
            lambda: evalica.newman(winners, losers, first),
            heavy,
        ),
        "choix, I-LSR on counts": (lambda: choix.ilsr_pairwise_dense(wins), 3),
    }
    if n <= 10**6:
        pairs = list(zip(winners.tolist(), losers.tolist(), strict=True))
        contenders["choix, I-LSR on pairs"] = (
            lambda: choix.ilsr_pairwise(players, pairs),
            1,
        )
    rows = race(f"Bradley–Terry, {n:,} games × {players:,} players", contenders)
    best = ours()
    for name in ("evalica, positions", "evalica (newman), positions"):
        result = contenders[name][0]()
        logs = np.log(result.scores.sort_index().to_numpy())
        off = np.abs(logs - logs.mean() - best.ratings).max()
        print(f"  {name}: largest gap to our ratings {off:.2g} logits")
    return rows


def race_bootstrap() -> list[Row]:
    import arenakit
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    n, players, resamples = 100_000, 30, 1000
    winners, losers = games(n, players)
    names = [f"m{k:02d}" for k in range(players)]
    battles = [
        arenakit.Battle(model_a=names[a], model_b=names[b], winner="a")
        for a, b in zip(winners, losers, strict=True)
    ]
    arena = arenakit.Arena(battles, models=names)
    swap = np.random.default_rng(SEED).random(n) < 0.5
    frame = pd.DataFrame(
        {
            "model_a": np.array(names)[np.where(swap, losers, winners)],
            "model_b": np.array(names)[np.where(swap, winners, losers)],
            "winner": np.where(swap, "model_b", "model_a"),
        }
    )
    place = pd.Series(range(players), index=names)
    row = np.arange(n)
    part = 10

    def ours(how: str = "multinomial") -> Any:
        wins = win_counts(winners, losers, players=players)
        return bradley_terry(
            wins, interval="bootstrap", resamples=resamples, resample_by=how, rng=1
        )

    def fastchat() -> np.ndarray:
        fits = []
        for draw in range(part):
            sample = frame.sample(frac=1.0, replace=True, random_state=draw)
            design = np.zeros((n, players))
            design[row, place[sample["model_a"]]] = 1
            design[row, place[sample["model_b"]]] = -1
            model = LogisticRegression(fit_intercept=False, C=np.inf, tol=1e-6)
            model.fit(design, (sample["winner"] == "model_a").to_numpy())
            fits.append(model.coef_[0] - model.coef_[0].mean())
        return np.array(fits)

    rows = race(
        "bootstrap, 1,000 resamples of 100,000 games × 30 players",
        {
            "judgelab": (ours, 9),
            "judgelab, Poisson": (lambda: ours("poisson"), 9),
            "arenakit": (
                lambda: arenakit.bootstrap(arena, n_resamples=resamples, seed=1),
                1,
            ),
            "FastChat's approach (10 resamples, scaled)": (fastchat, 3),
        },
    )
    base = rows[0]["seconds"]
    rows[3]["seconds"] *= resamples / part
    rows[3]["times_ours"] = rows[3]["seconds"] / base
    theirs = arenakit.bootstrap(arena, n_resamples=resamples, seed=1)
    scores = theirs.scores - theirs.scores.mean(axis=1, keepdims=True)
    width = np.subtract(*np.percentile(scores, [97.5, 2.5], axis=0))
    for name, how in (("multinomial", "multinomial"), ("Poisson", "poisson")):
        mine = np.array([e.width for e in ours(how).estimates().values()])
        print(f"  {name}: mean width, ours / arenakit's: {(mine / width).mean():.4f}")
    return rows


def rankjudge_way(scores: np.ndarray) -> np.ndarray:
    """MM over judges and items, then the sandwich by the full pseudoinverse."""
    total = scores.sum(axis=0)
    kept = scores[:, (total > 0) & (total < len(scores))].astype(float)
    judges, items = kept.shape
    judge, item = np.ones(judges), np.ones(items)
    change = 1.0
    while change >= 1e-6:
        before = np.concatenate([judge, item])
        judge = kept.sum(axis=1) / (1 / (judge[:, None] + item)).sum(axis=1)
        item = (1 - kept).sum(axis=0) / (1 / (judge[:, None] + item)).sum(axis=0)
        mean = np.concatenate([judge, item]).mean()
        judge, item = judge / mean, item / mean
        change = np.abs(np.concatenate([judge, item]) - before).max()
    chance = judge[:, None] / (judge[:, None] + item)
    weight, residual = chance * (1 - chance), kept - chance
    information = np.zeros((judges + items, judges + items))
    information[:judges, judges:] = -weight
    information += information.T
    np.fill_diagonal(information, -information.sum(axis=1))
    score = np.concatenate([residual, -np.diag(residual.sum(axis=0))])
    inverse = np.linalg.pinv(information, rcond=1e-10)
    return np.sqrt(np.diag(inverse @ (score @ score.T) @ inverse))[:judges]


def race_judges() -> list[Row]:
    from scipy import sparse
    from sklearn.linear_model import LogisticRegression

    scores = answers(21, 652)
    judges, items = scores.shape
    row = np.arange(judges * items)
    design = sparse.csr_array(
        (
            np.concatenate([np.ones(row.size), -np.ones(row.size)]),
            (
                np.tile(row, 2),
                np.concatenate(
                    [
                        np.repeat(np.arange(judges), items),
                        judges + np.tile(np.arange(items), judges),
                    ]
                ),
            ),
        )
    )

    def regression() -> Any:
        model = LogisticRegression(fit_intercept=False, C=1e6, max_iter=1000)
        return model.fit(design, scores.ravel())

    return race(
        "judge × item, 21 × 652, clustered intervals",
        {
            "judgelab": (lambda: rasch(scores).standard_errors(), 25),
            "judgelab, joint": (
                lambda: rasch(scores, method="joint").standard_errors(),
                25,
            ),
            "RankJudge's way": (lambda: rankjudge_way(scores), 3),
            "scikit-learn, no intervals": (regression, 3),
        },
    )


def one_large_table() -> None:
    """Rate 200 judges on 100,000 items; print seconds and peak memory in MB."""
    scores = answers(200, 100_000)
    rasch(scores[:, :5000])
    times = []
    for _ in range(5):
        start = time.perf_counter()
        rasch(scores).standard_errors()
        times.append(time.perf_counter() - start)
    # Not getrusage: its maximum begins with that of the process that started this one.
    status = Path("/proc/self/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
    print(statistics.median(times), peak)


def race_large_table() -> list[Row]:
    """Measure it in a process of its own, so that the memory is its own too."""
    command = [sys.executable, __file__, "--large"]
    seconds, peak = subprocess.check_output(command, text=True).split()
    task = "judge × item, 200 × 100,000, clustered intervals"
    print(f"  peak memory {float(peak):,.0f} MB, Python and the data included")
    return [
        {
            "task": task,
            "contender": "judgelab",
            "seconds": float(seconds),
            "times_ours": 1.0,
            "runs": 5,
            "peak_mb": round(float(peak)),
        }
    ]


TASKS: dict[str, Callable[[], list[Row]]] = {
    "games-100": lambda: race_bradley_terry(10**6, 100),
    "games-1000": lambda: race_bradley_terry(10**6, 1000),
    "games-200": lambda: race_bradley_terry(10**7, 200),
    "bootstrap": race_bootstrap,
    "judges": race_judges,
    "large": race_large_table,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=TASKS, help="one task; nothing is written")
    parser.add_argument("--large", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.large:
        one_large_table()
        return
    if library() is None:
        print('no compiled loop here: "judgelab" counts with NumPy')
    rows: list[Row] = []
    for name, task in TASKS.items():
        if arguments.only in (None, name):
            new = task()
            for row in new:
                print(
                    f"{row['task']:58s} {row['contender']:42s} "
                    f"{1000 * row['seconds']:12,.2f} ms {row['times_ours']:10,.2f} ×"
                )
            rows += new
    if arguments.only:
        return
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        file.write(
            f"# benchmarks/ranking.py, seed {SEED}, {os.cpu_count()} cores, "
            f"Python {sys.version.split()[0]}, numpy {np.__version__}\n"
        )
        columns = ["task", "contender", "seconds", "times_ours", "runs", "peak_mb"]
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for row in rows:
            shown = {k: f"{row[k]:.5g}" for k in ("seconds", "times_ours")}
            writer.writerow(row | shown)


if __name__ == "__main__":
    main()
