"""Reading XML with line numbers, which the standard tree does not keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from pliant_nodes.launch_runner.errors import LaunchFileError


@dataclass
class Element:
    """One XML element and where it starts.

    Attributes:
        tag: Its name, with '-' written as '_'.
        attributes: Attribute name to text.
        children: Elements inside it.
        file: The file.
        line: Line of its start tag, from 1.
    """

    tag: str
    attributes: dict[str, str]
    file: Path
    line: int
    children: list[Element] = field(default_factory=list)

    def error(self, message: str) -> LaunchFileError:
        """An error that points at this element."""
        return LaunchFileError(self.file, self.line, message)


def read_xml(file: Path) -> Element:
    """The root element of an XML file.

    Raises:
        LaunchFileError: If the file is missing, not XML, or holds text between its elements.
    """
    parser = expat.ParserCreate()
    stack: list[Element] = []
    roots: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag.replace("-", "_"), attributes, file, parser.CurrentLineNumber)
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def text(characters: str) -> None:
        if characters.strip():
            raise stack[-1].error(
                f"text {characters.strip()[:40]!r} inside <{stack[-1].tag}> is not supported"
            )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.CharacterDataHandler = text
    try:
        parser.Parse(file.read_bytes(), True)
    except OSError as error:
        raise LaunchFileError(file, 0, error.strerror or str(error)) from error
    except expat.ExpatError as error:
        raise LaunchFileError(file, error.lineno, f"not XML: {expat.ErrorString(error.code)}") from error
    return roots[0]
