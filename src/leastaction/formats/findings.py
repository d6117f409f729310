"""What the reader of a file notes: faults, and elements that the dynamics do not honour."""

import warnings
from collections.abc import Iterable

from leastaction.errors import ModelError, ModelWarning, warn_user
from leastaction.formats.markup import Element, number
from leastaction.model import Model
from leastaction.model.unhonoured import CHANGE_THE_MODEL, SWITCHES, WORDS, accepted, not_acting, settled

OPEN = 1e-8  # m; what is less is closed when a simulation starts


class Findings:
    """Faults and unhonoured elements of one file.

    Parameters
    ----------
    file : its name, for messages
    ignore : the words that the user has accepted
    """

    def __init__(self, file: str, ignore: str | Iterable[str] = ()) -> None:
        self.file = file
        self.ignore = accepted(ignore, WORDS)
        self.faults: list[str] = []
        self.doubts: list[str] = []
        self._outside: dict[str, None] = {}
        self._ignored: dict[str, dict[str, None]] = {}

    def fault(self, element: Element | None, text: str) -> None:
        """Note a fault, at an element of the file or of the file as a whole."""
        where = self.file if element is None else f"{self.file}, line {element.line}: {element.title()}"
        self.faults.append(f"{where}: {text}")

    def doubt(self, text: str) -> None:
        """Note a doubt about the file: a warning, or an error if the file is read strictly."""
        self.doubts.append(text)

    def outside(self, reference: str) -> None:
        """Note a file that is needed and may not be opened; all of them make one fault."""
        self._outside[f"'{reference}'"] = None

    def note(self, word: str, name: str) -> None:
        """Note an element that the dynamics do not honour."""
        self._ignored.setdefault(word, {})[name] = None

    def numbers(
        self, element: Element, attribute: str, default: tuple[float, ...], infinite: bool = False
    ) -> list[float]:
        """Read as many numbers from an attribute as its default has; what is not readable is a fault.

        Parameters
        ----------
        element : that may have the attribute
        default : its value when absent
        infinite : whether infinite numbers are allowed
        """
        if attribute not in element.attributes:
            return list(default)
        text = element.get(attribute)
        try:
            values = [number(token) for token in text.split()]
        except ValueError as error:
            self.fault(element, f"{attribute}=\"{shortened(text)}\": '{shortened(str(error))}' is not a number")
            return list(default)
        if len(values) != len(default):
            self.fault(element, f"{attribute}=\"{shortened(text)}\" must be {len(default)} numbers, not {len(values)}")
        elif not infinite and any(abs(value) == float("inf") for value in values):
            self.fault(element, f'{attribute}="{shortened(text)}" is not finite')
        else:
            return values
        return list(default)

    def stop_at_faults(self) -> None:
        """Raise a ModelError with all faults, if there are any."""
        if self._outside:
            self.fault(None, f"outside the model's folder and not opened: {listed(self._outside)}; move what is needed "
                             "there, or say allow_external=True if you trust the file")
            self._outside.clear()
        if self.faults:
            raise ModelError(self.faults)

    def settle(self, model: Model, strict: bool) -> Model:
        """Check the model, raise all faults at once, and warn once of what does not act."""
        model.ignored = self._ignored
        model._off = frozenset(self.ignore) & SWITCHES
        for word, title in CHANGE_THE_MODEL.items():
            if word in self._ignored and word not in self.ignore:
                self.faults.append(
                    f"{self.file}: {title} are not supported, and without them this is another model: "
                    f"{listed(self._ignored[word])}; ignore=('{word}',) loads it without"
                )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                if model.nb:
                    model.validate(strict)
                elif not self.faults:
                    self.fault(None, "there are no bodies in it")
            except ModelError as error:
                self.faults += [f"{self.file}: {fault}" for fault in error.faults]
        if model.loops and not self.faults:
            self._doubt_start(model)
        doubts = [*self.doubts, *(str(doubt.message) for doubt in caught)]
        still = not_acting(model.ignored, self.ignore | CHANGE_THE_MODEL.keys())
        doubts = [f"{self.file}: {text}" for text in [*doubts, still] if text]
        self.faults += doubts if strict else []
        self.stop_at_faults()
        for text in doubts:
            warn_user(text, ModelWarning)
        settled(model)
        return model

    def _doubt_start(self, model: Model) -> None:
        """Note loops that are open where a simulation would start."""
        from leastaction.closures import closure  # it takes the kernels, which most files do not need

        distances = zip(model.loops, closure(model).tolist(), strict=True)
        found = [f"'{loop.name}' by {distance:.3g} m" for loop, distance in distances if distance > OPEN]
        if found:
            self.doubt(f"loops are open at model.q0: {listed(found)}; la.assemble(model) closes them")


def shortened(text: str, most: int = 60) -> str:
    """Cut a long text, so that a message stays readable."""
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Iterable[str], most: int = 12) -> str:
    """Join names, the first few of a long list."""
    all_names = list(names)
    rest = f" and {len(all_names) - most} more" if len(all_names) > most else ""
    return ", ".join(shortened(name) for name in all_names[:most]) + rest
