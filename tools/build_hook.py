"""Takes the package's metadata from publishing.toml; pyproject.toml names this file as hatchling's metadata hook."""

import sys
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

sys.path.insert(0, str(Path(__file__).parent))    # a build is run from anywhere
import publishing


class PublishingHook(MetadataHookInterface):
    """Fills in readme, authors and urls."""

    def update(self, metadata: dict[str, Any]) -> None:
        metadata.update(publishing.metadata(metadata["version"], Path(self.root)))
