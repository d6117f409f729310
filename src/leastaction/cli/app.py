"""The command itself: its options, and what every subcommand shares."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer

import leastaction as la
from leastaction.errors import NotDefinedError

BAD_INPUT, STEP_FAILED, FILE_FAILED, INTERRUPTED = 2, 3, 4, 130
CODES = ("Exit codes: 0 done, 2 bad input, 3 a step or too many members failed, 4 a file cannot be read or written, "
         "130 interrupted.")

app = typer.Typer(help="Simulate multibody systems with a linear-time variational integrator.", epilog=CODES,
                  no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

Debug = Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")]
Modules = Annotated[list[str] | None, typer.Option("--import", metavar="MODULE", help=(
    "Import this first, a module with joints, forces or integrators of your own that a file needs; may be repeated."))]


@contextmanager
def plain_errors(debug: bool, modules: Iterable[str] | None = None) -> Iterator[None]:
    """Turn errors that a user can correct into one message and an exit code, and warnings into notes.

    Parameters
    ----------
    debug : whether to show the traceback instead
    modules : names of modules to import first, from the working folder too
    """
    try:
        for module in modules or ():
            _import(module)
        with warnings.catch_warnings():
            warnings.simplefilter("always", la.ModelWarning)
            warnings.showwarning = _note  # type: ignore[assignment]
            yield
    except (ValueError, OSError, ImportError, la.StepError) as error:
        if debug:
            raise
        notes = ["--import MODULE does that here"] if isinstance(error.__cause__, NotDefinedError) else []
        typer.echo("leastaction: " + ". ".join([str(error), *getattr(error, "__notes__", ()), *notes]), err=True)
        codes = {la.StepError: STEP_FAILED, OSError: FILE_FAILED}
        raise typer.Exit(next((code for kind, code in codes.items() if isinstance(error, kind)), BAD_INPUT)) from None
    except KeyboardInterrupt:
        typer.echo("leastaction: interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _import(module: str) -> None:
    """Import a module, from the working folder too, as Python itself would."""
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        import_module(module)
    except ImportError as error:
        raise ImportError(f"--import {module}: {error}; give the name of a module in {folder} or of one that is "
                          "installed, without .py") from error


def _note(message: Warning | str, *_where: Any) -> None:
    typer.echo(f"note: {message}", err=True)


def examples(*lines: str) -> str:
    """Make the end of a --help: examples and exit codes."""
    return "Examples:\n\n" + "\n\n".join(f"  leastaction {line}" for line in lines) + f"\n\n{CODES}"


def print_version(wanted: bool) -> None:
    """Print the version and stop, if that was asked for."""
    if wanted:
        typer.echo(la.__version__)
        raise typer.Exit


@app.callback()
def leastaction(
    version: Annotated[bool, typer.Option("--version", callback=print_version, is_eager=True,
                                          help="Print the version and exit.")] = False,
) -> None:
    """Take the options of the command itself; their callbacks do the work."""
