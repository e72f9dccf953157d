"""Hold flaws, mutants and libraries against vectors/1: python -m benchmarks.vectors museum|mutants|libraries

Each writes its part of results.md. The subjects run in processes of their own, where Subnormal cannot be imported;
releases are installed into museum/.environments, without Subnormal.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.vectors.mutants import MUTANTS, mutated
from subnormal.audit.targets.environments import Environment, install

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RUNNER = ROOT / "vectors" / "runners" / "python"
SECONDS = 600.0  # of one subject
CARGO = """[package]
name = "runner"
version = "0.0.0"
edition = "2021"

[[bin]]
name = "runner"
path = "src/runner.rs"

[dependencies]
rand = "0.8"
rand_distr = "0.4.3"
"""

# Exhibits and the set that convicts each; those whose fixed release can be tried too have it.
EXHIBITS: Mapping[str, str] = {
    "numpy-sum-order": "stability", "numpy-sum-overflow": "stability", "numpy-sum-rounding": "stability",
    "opendp-314": "stability", "opendp-348": "stability",
    "gaussian-large-epsilon": "maps", "opendp-2922": "maps", "dp-accounting-378": "maps", "opacus-384": "maps",
    "opendp-2638-law": "samplers", "opendp-2707": "samplers", "opendp-481": "samplers",
    "numpy-laplace": "attacks", "python-random-gauss": "attacks", "box-muller": "attacks", "c-rand-laplace": "attacks",
    "javascript-laplace": "attacks", "opendp-0-4-laplace": "attacks", "diffprivlib-94": "attacks",
    "diffprivlib-107": "attacks", "statdp-histogram": "attacks", "statdp-noisy-max": "attacks",
    "group-by-keys": "attacks", "ilvento-exponential": "attacks", "local-sensitivity-mean": "attacks",
    "lyu-svt-noiseless": "attacks", "lyu-svt-unscaled": "attacks", "lyu-svt-unlimited": "attacks",
}  # fmt: skip
FIXED = (
    "numpy-sum-overflow", "opendp-2638-law", "opendp-2707", "opendp-481", "opendp-0-4-laplace", "c-rand-laplace",
    "javascript-laplace", "statdp-noisy-max", "group-by-keys",
)  # fmt: skip


def first_failure(interpreter: Path, subject: Path, sets: tuple[str, ...], **variables: str) -> str | None:
    """Return the first test that a subject fails, None where it fails none. Raises RuntimeError where it breaks."""
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | variables
    command = [str(interpreter), str(RUNNER / "runner.py"), str(ROOT / "vectors" / "1"), str(subject), *sets]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=outside) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("FAILED "):
                process.kill()
                return line.split()[1]
            if line.startswith("WRONG "):
                raise RuntimeError(line)
        if process.wait(SECONDS):
            errors.seek(0)
            raise RuntimeError(errors.read()[-500:])
        return None


def museum() -> Iterator[str]:
    """Yield the rows of the table of exhibits."""
    yield "| exhibit | release | convicted by | fixed release |\n|---|---|---|---|"
    convicted = 0
    for name, held in EXHIBITS.items():
        exhibit = tomllib.loads((ROOT / "museum" / name / "exhibit.toml").read_text("utf-8"))
        package = exhibit.get("package", "")
        found, remedy = _held(name, exhibit, "flawed", held), "not tried"
        convicted += found is not None
        if name in FIXED:
            passed = _held(name, exhibit, "fixed", held) is None
            remedy = f"{package} {exhibit['fixed']}: {'passes' if passed else 'FAILS'}"
        shown = f"`{found}`" if found else "**not convicted**"
        yield f"| [{name}](../../museum/{name}/exhibit.toml) | {package} {exhibit['flawed']} | {shown} | {remedy} |"
    yield f"\n**{convicted} of {len(EXHIBITS)} convicted.**"


def _held(name: str, exhibit: Mapping[str, object], role: str, held: str) -> str | None:
    pinned = (f"{exhibit['package']}=={exhibit[role]}",) if "package" in exhibit else ()
    requires = exhibit.get("requires", ())
    assert isinstance(requires, list | tuple)
    bare = pinned if exhibit.get("dependencies") is False else ()
    needed = ("numpy<2", "scipy") if bare or not pinned else ()
    release = Environment((*pinned, *requires, *needed), bare, ROOT / "museum" / ".environments")
    install(release)
    return first_failure(release.interpreter, HERE / "subjects.py", (held,), EXHIBIT=name, ROLE=role)


def mutants() -> Iterator[str]:
    """Yield the rows of the table of mutants."""
    source = (RUNNER / "reference.py").read_text("utf-8")
    yield "| in place of | there is | killed by |\n|---|---|---|"
    killed = 0
    with tempfile.TemporaryDirectory() as folder:
        subject = Path(folder) / "mutant.py"
        for row in MUTANTS:
            subject.write_text(mutated(source, row), "utf-8")
            found = first_failure(Path(sys.executable), subject, ("samplers", "maps"))
            killed += found is not None
            one, other = (" ".join(piece.replace("|", "\\|").split()) for piece in row)
            yield f"| `{one}` | `{other}` | {f'`{found}`' if found else '**survives**'} |"
    yield f"\n**{killed} of {len(MUTANTS)} killed.**"


def libraries() -> Iterator[str]:
    """Yield the rows of the table of the integrations in docs/vectors.md; NODE_PATH leads to those in JavaScript,
    and cargo builds those in Rust, from where its configuration says."""
    yield "| library | lines | samplers | maps | stability | attacks | fails |\n|---|---|---|---|---|---|---|"
    page = (ROOT / "docs" / "vectors.md").read_text("utf-8")
    blocks = re.compile(r"^## ([^\n]+)\n(?:(?!^## ).)*?```(python|javascript|rust)\n(.*?)```", re.DOTALL | re.MULTILINE)
    for name, language, code in blocks.findall(page):
        with tempfile.TemporaryDirectory() as folder:
            command = _command(language, code, Path(folder))
            said = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False).stdout.splitlines()
        for line in said:
            if line.startswith("WRONG "):
                raise RuntimeError(f"{name}: {line}")
        counts = dict(line.split(": ", 1) for line in said if not line.startswith("FAILED "))
        failed = [f"`{line.split()[1]}`" for line in said if line.startswith("FAILED ")]
        cells = (_counts(counts.get(one, "")) for one in ("samplers", "maps", "stability", "attacks"))
        shown = ", ".join(failed[:4]) + " …" * (len(failed) > 4)
        yield f"| {name} | {len(code.splitlines())} | {' | '.join(cells)} | {shown} |"


def _command(language: str, code: str, folder: Path) -> list[str]:
    """Write an integration into a folder, and return the command that holds it against the vectors."""
    vectors = str(ROOT / "vectors" / "1")
    if language == "rust":
        (folder / "src").mkdir()
        for name in ("runner.rs", "stability.rs"):
            shutil.copy(RUNNER.parent / "rust" / name, folder / "src")
        (folder / "src" / "example.rs").write_text(code, "utf-8")
        (folder / "Cargo.toml").write_text(CARGO, "utf-8")
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=folder, check=True)
        return [str(folder / "target" / "release" / "runner"), vectors]
    subject = folder / f"subject.{'py' if language == 'python' else 'js'}"
    subject.write_text(code, "utf-8")
    if language == "javascript":
        return ["node", str(RUNNER.parent / "javascript" / "runner.js"), vectors, str(subject)]
    return [sys.executable, "-W", "ignore", str(RUNNER / "runner.py"), vectors, str(subject)]


def _counts(words: str) -> str:
    """Return "5 of 6" for 5 that pass and one that fails; nothing where no test was answered."""
    passed, failed = (int(number) for number in re.findall(r"(\d+) (?:passed|failed)", words)) if words else (0, 0)
    return f"{passed} of {passed + failed} pass" if passed + failed else ""


PARTS: Mapping[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "museum": ("Flaws of the museum, convicted by the vectors alone", museum),
    "mutants": ("Mutants of the reference subject", mutants),
    "libraries": ("Released libraries, by the integrations of docs/vectors.md", libraries),
}


def main(*names: str) -> None:
    """Write the parts of results.md that are named; all of them where none is."""
    for name in names or PARTS:
        title, rows = PARTS[name]
        lines = []
        for row in rows():
            print(row, flush=True)
            lines.append(row)
        path = HERE / "results.md"
        text = (
            path.read_text("utf-8")
            if path.exists()
            else "# What the vectors find\n\nWritten by `python -m benchmarks.vectors`.\n"
        )
        kept = re.sub(rf"\n## {re.escape(title)}\n.*?(?=\n## |\Z)", "", text, flags=re.DOTALL).rstrip()
        path.write_text(f"{kept}\n\n## {title}\n\n" + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
