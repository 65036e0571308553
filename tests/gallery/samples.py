"""Write the sample reports of docs/gallery anew: `python -m tests.gallery.samples FOLDER [TEMPLATE …]`.

Each template is evaluated, created, launched and walked by simulated participants, with the effects planted that stand
here, on the quick demo, which is made once in FOLDER.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from studies.design.presets.loader import load_preset
from tests.gallery.shoot import PORT, ROOT, served

GALLERY = ROOT / "docs" / "gallery"
DATASET, SPLIT, NEGATIVES = "demo-films", "probe:share=0.1", ("--negatives", "500")
USUAL = "toppop,puresvd:factors=10,nncosngr"
PER_CONDITION = {"three-in-turn": 48, "two-lists": 48}  # participants of the study; of others 16 in each condition
RECOMMENDERS = ("NNCosNgr", "PureSVD50")
CLEARER = {"scale.transparency": 0.8, "scale.trust": 0.4}
EFFECTS = {
    "explanations": {f"{name} · explained": CLEARER for name in RECOMMENDERS},
    "diversity-dose": {
        f"PureSVD50 + MMR 0.{strength}": {"scale.diversity": strength / 10, "accuracy": -strength / 20}
        for strength in (3, 6, 9)
    },
    "three-in-turn": {"PureSVD10": {"satisfaction": 0.8, "accuracy": 0.4}, "occasion:3": {"satisfaction": -0.2}},
    "two-lists": {"PureSVD50": {"accuracy": 1.0}},
}


def main(folder: Path, keys: list[str]) -> None:
    environment = {**os.environ, "PARALLAX_VAR": str(folder.resolve())}

    def manage(*arguments: str) -> None:
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, check=True)

    manage("demo", "--quick", "--exit", "--port", str(PORT))
    with served(folder.resolve()) as url:
        for key in keys:
            slug, effects = f"sample-{key}", folder / f"{key}.yaml"
            effects.write_text(yaml.safe_dump(EFFECTS.get(key, {})), encoding="utf-8")
            algorithms = load_preset(key).quick_algorithms or USUAL
            n = ("--per-condition", str(PER_CONDITION.get(key, 16)))
            manage("evaluate", DATASET, "--algorithms", algorithms, "--split", SPLIT, "--reserve", ".15", *NEGATIVES)
            manage("create_study", slug, "--template", key, "--dataset", DATASET, "--seed", "1", *n)
            manage("launch_study", slug)
            manage("simulate_participants", slug, *n, "--base-url", f"{url}/", "--effects", str(effects))
            manage("report", slug, "--out", str(folder / slug))
            shutil.copyfile(folder / slug / "report.html", GALLERY / f"{key}.html")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or [file.stem for file in sorted(GALLERY.glob("*.html"))])
