"""Arguments that commands refuse before anything is stored."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path

import pytest
from django.core.management import call_command

from catalog.models import DatasetVersion
from evaluation.models import EvaluationRun, TrainedModel
from tests.factories.catalog import make_version
from tests.sentences import assert_refused_as_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

FILES = {
    "facts.csv": "movieId,relation,freebase_mid\n1,genre,m.g\n",
    "ratings.csv": "user,item,rating\na,1,4\nb,2,5\na,2,1\n",
    "items.csv": "item,title\n1,One\n2,Two\n",
    "twice.csv": "item,title,plot_it,description_it\n1,One,Uno,\n2,Two,,\n",
    "long.csv": f"item,title,title_it\n1,One,{'x' * 301}\n2,Two,\n",
    "commas.csv": "user;item;rating\n1;1;4,5\n1;2;3,5\n",
    "words.csv": "user,item,rating\n1,1,4\n1,2,many\n",
    "twice-rated.csv": "user,item,rating\n1,1,4\n1,1,3\n",
    "alike.csv": "user,item,rating\n1,1,4\n1,2,4\n",
    "unnamed.csv": "user,item,stage\n1,1,4\n1,2,3\n",
    "zeros.csv": "user,item,rating\n1,1,0\n1,2,1\n2,1,2\n",
    "who.csv": "who,item,rating\n1,1,4\n",
    "baskets.csv": "user,item\n1,1\n",
}
# What each line has in common with a sound one, and what is wrong in it.
ARGUMENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "evaluate": (
        "--split probe:share=0.2 {}",
        (
            "",
            "nothing --algorithms toppop",
            "small",
            "small --algorithms best",
            "small --algorithms toppop --split probe:share=2",
            "small --algorithms toppop --workers 0",
            "small --algorithms toppop --threads 0",
            "small --algorithms toppop --part-users few",
            "small --algorithms toppop --json /nowhere/at/all/run.json",
            "small --algorithms toppop --resume 1",
            "--resume 77777",
        ),
    ),
    "train": (
        "small --algorithm {}",
        ("best", "puresvd --param factors", "puresvd --param factors=x"),
    ),
    "recommend": (
        "-n 3 {}",
        (
            "none --algorithm toppop --profile 1:5",
            "small --algorithm magic --profile 1:5",
            "small --algorithm toppop --profile 1:5,77:3",
            "small --algorithm toppop --profile 1:5,2",
            "small --algorithm toppop --profile 1:good",
            "small --algorithm toppop --profile 1:9",
            "small --algorithm toppop --profile 1:5 -n 0",
            "small --algorithm toppop --profile 1:5 --json /nowhere/at/all.json",
        ),
    ),
    "tune": (
        "{}",
        (
            "nothing puresvd --grid factors=2",
            "small puresvd",
            "small puresvd --grid factors=2 --json /nowhere/at/all/x.json",
            "small puresvd --grid factors=2 --figure x.gif",
            "small puresvd --grid factors=2 --minutes 0",
            "small puresvd --grid factors=2 --minutes few",
            "small toppop --sizes",
            "small aspect --sizes 2,many",
            "small aspect --sizes 2",
            "small aspect:iterations --sizes",
            "small aspect:speed=3 --sizes",
            "small aspect --sizes --run 999999",
        ),
    ),
    "run_experiment": (
        "{}",
        (
            "",
            "survey-rmse --dataset small",
            "survey-rms --dataset small --out FOLDER",
            "survey-rmse --dataset absent --out FOLDER",
            "survey-rmse --dataset small --out FOLDER/facts.csv",
            "survey-rmse --dataset small --out FOLDER --workers 0",
            "survey-rmse --dataset small --out FOLDER --threads 0",
            "survey-utility --dataset small --out FOLDER",
        ),
    ),
    "import_dataset": (
        "FOLDER/{} --name things",
        (
            "nothing-here",
            "ratings.csv --scale 'one to five'",
            "ratings.csv --scale 5:1:1",
            "ratings.csv --scale 1:4:1",
            "ratings.csv --feature genre",
            "ratings.csv --user-column nobody",
            "ratings.csv --encoding klingon",
            "ratings.csv --item-type tune",
            "ratings.csv --items-file FOLDER/items.csv --item-language xx",
            "ratings.csv --items-file FOLDER/twice.csv",
            "ratings.csv --items-file FOLDER/long.csv",
            "commas.csv --decimal . --rating-column rating",
            "words.csv",
            "twice-rated.csv",
            "alike.csv",
            "unnamed.csv",
            "zeros.csv",
            "who.csv",
            "baskets.csv --format bookcrossing --user-column x",
            "ratings.csv --json /nowhere/at/all.json",
        ),
    ),
    "compare_runs": ("{}", ("77777 77778",)),
    "export_run": ("{} --out FOLDER", ("77",)),
    "subset": (
        "{}",
        (
            "none --parent 1 --k-core 2",
            "small",
            "small --k-core 0",
            "small --k-core 500",
            "small --from tomorrow",
            "small --feature Drama",
            "small --parent 7 --k-core 2",
            "small --k-core 2 --json /nonexistent/x.json",
        ),
    ),
    "add_metadata": (
        "{}",
        (
            "none FOLDER/facts.csv",
            "small FOLDER/facts.csv --column plot",
            "small FOLDER/facts.csv --column plot=a --column plot=b",
            "small FOLDER/facts.csv --column title_fr=T",
            "small FOLDER/facts.csv --json /nowhere/at/all.json",
        ),
    ),
}


@pytest.mark.parametrize("command", ARGUMENTS)
def test_arguments_that_a_command_refuses(command: str, tmp_path: Path) -> None:
    make_version()
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    common, wrong = ARGUMENTS[command]
    lines = [common.format(words) for words in wrong]
    cases = {
        line: partial(call_command, command, *shlex.split(line.replace("FOLDER", f"{tmp_path}"))) for line in lines
    }
    assert_refused_as_approved(f"command-{command.replace('_', '-')}", cases, tmp_path)
    assert DatasetVersion.objects.count() == 1
    assert not EvaluationRun.objects.exists()
    assert command == "recommend" or not TrainedModel.objects.exists()  # a profile is read after the model is there
