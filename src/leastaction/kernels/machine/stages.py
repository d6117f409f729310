"""Compilation in stages: LLVM optimises once, when all code below a function that Python calls is together.

Numba optimises every function and makes machine code of it, then does so again for each of its callers, at every level.
Kernels below an entry are only used inside entries, so here they stop at LLVM's intermediate code. An entry links the
code of all of them, and LLVM optimises the whole. Functions that only borrow arrays from their callers do not count
references to them. Of a test ``x is None`` of an argument, one branch is compiled, whatever the argument is.

This uses parts of Numba that are not public. compilers.py tries whether they work, and uses Numba's own pipeline if
not.
"""

import operator
from copy import copy
from functools import cache
from types import SimpleNamespace

from numba._dynfunc import make_function
from numba.core import types
from numba.core.analysis import dead_branch_prune
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.untyped_passes import DeadBranchPrune

# Passes that are left out: for contexts, closures, array expressions, dynamic exceptions and literal loops, which no
# kernel uses; and for reports
_IDLE = {
    "with_lifting", "inline_closure_likes", "nopython_rewrites", "rewrite_dynamic_raises", "inline_overloads",
    "make_function_op_code_to_jit_function", "find_literally", "literal_unroll", "LiteralPropagation",
    "annotate_types", "dump_parfor_diagnostics",
}
_OPERATORS = {getattr(operator, name) for name in operator.__all__}


class _Inner(JITCodeLibrary):
    """Intermediate code of one function, without that of the functions it calls."""

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self):
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "external":
                function.linkage = "weak_odr"  # the linker keeps one of several copies, used already or not
        self._finalized = True

    def code(self):
        """The code that an entry links."""
        self._ensure_finalized()
        return self._final_module

    def _get_module_for_linking(self):
        """The code that a function outside this package links: this function and all that it calls."""
        if self._shared_module is None:
            whole = _Whole(self._codegen, self.name)
            whole._final_module = self.code().clone()
            whole._linking_libraries = self._linking_libraries
            whole.take_in()
            for function in whole.inner_functions():
                function.linkage = "linkonce_odr"  # so that none is kept that nothing calls
            for library in whole._linking_libraries:
                whole._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._shared_module = whole._final_module
        return self._shared_module


class _Whole(JITCodeLibrary):
    """Code of an entry and of all that it calls."""

    def take_in(self):
        """Link inner functions at all levels, and leave other libraries to Numba."""
        called_first, met, others = [], set(), []

        def visit(library):
            if library in met:
                return
            met.add(library)
            if isinstance(library, _Inner):
                for below in library._linking_libraries:
                    visit(below)
                called_first.append(library)
            else:
                others.append(library)

        for library in self._linking_libraries:
            visit(library)
        for library in called_first:
            self._reload_init.update(library._reload_init)
        if called_first:
            self._final_module.link_in(_joined([library.code().clone() for library in reversed(called_first)]))
        self._linking_libraries = others

    def inner_functions(self):
        """Functions that were inner ones before they were linked."""
        return [one for one in self._final_module.functions
                if not one.is_declaration and one.linkage.name == "weak_odr"]

    def finalize(self):
        self.take_in()
        for function in self.inner_functions():
            # Nothing else calls it, so LLVM may reshape it. It is private and not internal: the linker of compiled
            # code would find an internal one by its name, and give it to other entries instead of their own
            function.linkage = "private"
        super().finalize()

    def _optimize_final_module(self):
        """Run all passes once. Numba runs them twice to find more references that cancel; here there are few."""
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


def _joined(modules):
    """One module of several, which are used up. Neighbours are linked in pairs, then pairs of pairs: at each link LLVM
    looks through all that is linked already, so one by one would take a time that grows with the square."""
    while len(modules) > 1:
        for one, other in zip(modules[::2], modules[1::2], strict=False):
            one.link_in(other)
        modules = modules[::2]
    return modules[0]


def _no_executable(library, fndesc, env):
    """Stand in for the function that Python would call: inner functions have none."""
    return make_function(fndesc.lookup_module(), fndesc.qualname.split(".")[-1], "", 0, env, (library,))


def _borrows(state):
    """Whether a function only holds arrays that its caller holds, too: it returns none, and no call returns one to it.
    """
    given = {call.return_type for expression, call in state.calltypes.items()
             if getattr(expression, "op", "") == "call" and call is not None}
    models = state.targetctx.data_model_manager
    return not any(models[kind].contains_nrt_meminfo() for kind in given | {state.return_type})


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):
    _name = "leastaction_inner_lowering"

    def run_pass(self, state):
        state.library = _Inner(state.targetctx.codegen(), state.func_id.func_qualname)
        counting = state.targetctx.enable_nrt and not _borrows(state)
        state.targetctx = state.targetctx.subtarget(get_executable=_no_executable, enable_nrt=counting)
        return super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):
    _name = "leastaction_entry_lowering"

    def run_pass(self, state):
        state.library = _Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()  # for the cache on disk
        return super().run_pass(state)


def _known(kind):
    """The type of an argument as dead_branch_prune takes it. Of ``x is None``, it prunes the other branch if x has the
    type of None or of a literal, so a type whose values are never None is given as that of a literal."""
    return kind if isinstance(kind, (types.NoneType, types.Omitted, types.Optional)) else SimpleNamespace(
        literal_type=kind)


@register_pass(mutates_CFG=True, analysis_only=False)
class PruneBranches(DeadBranchPrune):
    """Drop branches for arguments that are None where they are not, as Numba does for those that are not where they
    are."""

    _name = "leastaction_prune_branches"

    def run_pass(self, state):
        dead_branch_prune(state.func_ir, tuple(map(_known, state.args)))
        return True


@cache
def _remembering(typing):
    """A typing context that remembers the result types of operators: at every sum and product Numba would try all
    overloads of the operator again."""
    remembering, known = copy(typing), {}

    def resolve_function_type(function, args, kws):
        if kws or getattr(function, "typing_key", function) not in _OPERATORS:
            return typing.resolve_function_type(function, args, kws)
        key = function, tuple(args)
        if known.get(key) is None:
            known[key] = typing.resolve_function_type(function, args, kws)
        return known[key]

    remembering.resolve_function_type = resolve_function_type
    return remembering


def rearrange(state, pipelines, lowering):
    """Replace the last stage of Numba's pipelines and the pruning of branches, and leave out passes that kernels do not
    need."""
    replaced = {NativeLowering: lowering, DeadBranchPrune: PruneBranches}
    state.typingctx = _remembering(state.typingctx)
    state.targetctx = state.targetctx.subtarget(typing_context=state.typingctx)
    for pipeline in pipelines:
        pipeline.passes = [(replaced.get(one, one), why) for one, why in pipeline.passes if one.name() not in _IDLE]
        pipeline.finalize()
