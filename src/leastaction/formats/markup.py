"""XML read safely: no entities, no document types, nothing opened; every element knows its line."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from leastaction.errors import ModelError

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)


@dataclass(eq=False, slots=True)
class Element:
    """An element that remembers where it stood; nothing here is recursive, as files may be deep.

    Attributes
    ----------
    tag : its kind
    attributes : as text
    line : where it began
    children : the elements in it
    text : the characters in it
    within : the nearest element around it that has a name, as text
    """

    tag: str
    attributes: dict[str, str]
    line: int = 0
    children: list["Element"] = field(default_factory=list)
    text: str = ""
    within: str = ""

    def title(self) -> str:
        """Name the element, as in "joint 'elbow'" or "<origin> of joint 'elbow'"."""
        name = self.get("name")
        if name:
            return f"{self.tag} '{name}'"
        return f"<{self.tag}> of {self.within}" if self.within else f"<{self.tag}>"

    def get(self, attribute: str, default: str = "") -> str:
        """Return an attribute."""
        return self.attributes.get(attribute, default)

    def find(self, tag: str) -> "Element | None":
        """Return the first child of a kind."""
        return next((child for child in self.children if child.tag == tag), None)

    def findall(self, tag: str) -> list["Element"]:
        """Return the children of a kind."""
        return [child for child in self.children if child.tag == tag]

    def walk(self) -> Iterator["Element"]:
        """Yield this element and all within it, in the order of the file."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def depth(self) -> int:
        """Count the levels of elements."""
        deepest, level = 0, [self]
        while level:
            deepest += 1
            level = [child for element in level for child in element.children]
        return deepest

    def write(self) -> str:
        """Write the element as XML, without the text in it."""
        pieces: list[str] = []
        stack: list[Element | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                pieces.append(item)
                continue
            attributes = "".join(f" {key}={quoteattr(value)}" for key, value in item.attributes.items())
            pieces.append(f"<{item.tag}{attributes}>")
            stack.append(f"</{item.tag}>\n")
            stack.extend(reversed(item.children))
        return "".join(pieces)


def parse(data: bytes, file: str) -> Element:
    """Read XML.

    Parameters
    ----------
    data : the bytes of the file
    file : its name, for messages
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top = Element("", {})
    path = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        above = path[-1]
        named = len(path) > 2 and above.get("name")   # the file itself goes without saying
        element = Element(tag, attributes, parser.CurrentLineNumber, within=above.title() if named else above.within)
        above.children.append(element)
        path.append(element)

    def end(_: str) -> None:
        path.pop()

    def characters(text: str) -> None:
        path[-1].text += text

    def refuse(*_: object) -> None:
        raise ModelError(
            f"{file}, line {parser.CurrentLineNumber}: document types and entities are refused, as they can hide "
            "other files or grow without bound; write their content out"
        )

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ModelError(f"{file}, line {error.lineno}: not readable as XML: {expat.ErrorString(error.code)}") from None
    except ModelError:
        raise
    except (ValueError, LookupError) as error:   # an encoding that is not known, or not what it claims to be
        raise ModelError(f"{file}: not readable as XML: {error}") from None
    return top.children[0]


def number(token: str) -> float:
    """Read one number, which may be infinite; raises a ValueError for anything else ("1,5kg", "nan", "1_000")."""
    if not NUMBER.fullmatch(token):
        raise ValueError(token)
    value = float(token)
    if math.isinf(value) and "inf" not in token.lower():
        raise ValueError(token)
    return value
