"""Compiling a kernel only as far as it is needed: LLVM's work is done once, on the whole of what Python calls.

Numba optimises every function and makes machine code of it, and then does it again for all that calls it, at every
level. The functions below an entry are only ever used inside one, so they stop at LLVM's intermediate code here. An
entry takes in the code of all of them as its own, which LLVM then optimises as a whole; and what only borrows arrays
from its caller counts no references to them.

It is done with parts of Numba that are not its public face: compilers.py tries whether they work, and does without them
if not.
"""

import operator
from copy import copy
from functools import cache

from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

# Passes for what no kernel uses: contexts, closures, array expressions, dynamic exceptions, literal loops; and reports
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
                function.linkage = "linkonce_odr"  # of several copies one is kept, of an unused function none
        self._finalized = True

    def code(self):
        """What an entry links."""
        self._ensure_finalized()
        return self._final_module

    def _get_module_for_linking(self):
        """What a function that is not ours links: all that is needed."""
        if self._shared_module is None:
            whole = _Whole(self._codegen, self.name)
            whole._final_module = self.code().clone()
            whole._linking_libraries = self._linking_libraries
            whole.take_in()
            for library in whole._linking_libraries:
                whole._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._shared_module = whole._final_module
        return self._shared_module


class _Whole(JITCodeLibrary):
    """Code of an entry and of all that it calls."""

    def take_in(self):
        """Link inner functions, however deep, and leave other libraries to Numba. Callers come before all that they
        call: LLVM leaves out what nothing has asked for yet, and the address of it would be zero."""
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
        for library in reversed(called_first):
            self._final_module.link_in(library.code(), preserve=True)
            self._reload_init.update(library._reload_init)
        self._linking_libraries = others

    def finalize(self):
        self.take_in()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "linkonce_odr":
                # Nobody else can call it: LLVM may reshape it. Private and not internal, as the linker of compiled code
                # would still find it by its name, and give it to others in place of their own
                function.linkage = "private"
        super().finalize()

    def _optimize_final_module(self):
        """All passes once: Numba makes them twice, so as to find more references that cancel; here there are few."""
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


def _no_executable(library, fndesc, env):
    """What Numba keeps of a function in place of the address that Python would call."""
    return make_function(fndesc.lookup_module(), fndesc.qualname.split(".")[-1], "", 0, env, (library,))


def _borrows(state):
    """Whether a function only ever holds arrays that its caller holds too: it gives none away, and is given none."""
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


@cache
def _remembering(typing):
    """A typing context that remembers what operators give for arguments of these types: Numba would try every operator
    that it has been taught, at every sum and product."""
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
    """Give Numba's pipelines another last stage, and leave out the passes that kernels have no use for."""
    state.typingctx = _remembering(state.typingctx)
    state.targetctx = state.targetctx.subtarget(typing_context=state.typingctx)
    for pipeline in pipelines:
        pipeline.passes = [(lowering if one is NativeLowering else one, why) for one, why in pipeline.passes
                           if one.name() not in _IDLE]
        pipeline.finalize()
