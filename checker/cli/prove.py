"""`tidegauge prove`."""

from __future__ import annotations

import click

from checker.cli.options import ModelChoice, cache_option, document_options, model_options


@click.command(short_help="Say what z3 proved of a spec, and what it refuted.")
@click.argument("spec")
@model_options
@cache_option
@document_options
def prove(spec: str, model: ModelChoice, no_cache: bool, json_file: str | None, quiet: bool) -> int:
    """Say what z3 proved of SPEC and what it refuted, with a witness: which replicas may be permuted without harm.

    Exit codes: 0 everything was decided, 3 something stayed unknown.
    """
    from checker.cli.emit import emit
    from checker.cli.settings import chosen_spec
    from checker.cli.watching import watching
    from checker.prove.refutation import Renaming
    from checker.report.proof import proof_report
    from checker.report.result import proof_document
    from checker.run import Options
    from checker.run import prove as run_prove
    from model.language.protocol import Permutation

    subject = chosen_spec(spec, model)
    protocol = subject.protocol()

    def naming(permutation: Permutation) -> str:
        return Renaming(protocol, permutation).text

    with watching(quiet) as watch:
        proof = run_prove(subject, Options(cache=not no_cache), watch)
    document = proof_document(subject, proof, naming)
    emit(lambda width: proof_report(subject, proof, naming, width), document, json_file, quiet)
    return 3 if proof.unknowns else 0
