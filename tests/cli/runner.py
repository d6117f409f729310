"""Runs the command inside the test process, its two streams apart in every version of click."""

from inspect import signature

from typer.testing import CliRunner

from leastaction.cli.commands import app

# Before click 8.2 the streams were mixed unless one asked
_OPTIONS = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner.__init__).parameters else {}


def run(*arguments):
    return CliRunner(**_OPTIONS).invoke(app, [str(argument) for argument in arguments])
