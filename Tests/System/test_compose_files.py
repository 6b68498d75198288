"""The compose files: all names in them belong to the program, the image, or another service."""

import json
import os
import re
import shutil
import subprocess

import pytest
import yaml
from parley_server import PROGRAM, ROOT
from patience import PROGRAM_SECONDS

PACKAGING = ROOT / "Packaging"
VERSION = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
FILES = ["compose.yaml", "compose-cluster.yaml"]


def composed(name):
    """Returns a file with variables replaced, and `$$` as `$`, as compose reads it."""
    text = (PACKAGING / name).read_text()
    filled = re.sub(r"(?<!\$)\$\{(\w+)(?::\?[^}]*)?\}", lambda found: found[1].lower(), text)
    return yaml.safe_load(filled.replace("$$", "$"))


def gateways(file):
    return {name: it for name, it in file["services"].items() if it["image"].startswith("parley:")}


def image_facts():
    text = (ROOT / "Scripts" / "make-image.sh").read_text()
    return int(re.search(r"--port (\d+)", text)[1]), re.search(r"--volume (\S+)", text)[1]


@pytest.mark.parametrize("name", FILES)
def test_all_named_files_exist(name):
    file = composed(name)
    port, folder = image_facts()
    assert gateways(file), "no gateway"
    for service in file["services"].values():
        for needed in service.get("depends_on", []):
            assert needed in file["services"]
        for volume in service.get("volumes", []):
            source, target = volume.split(":")
            assert source in file["volumes"]
            assert not service["image"].startswith("parley:") or target == folder
        for config in service.get("configs", []):
            assert config["source"] in file["configs"]
        assert set(service["networks"]) <= set(file["networks"])
    used = {volume.split(":")[0] for service in file["services"].values() for volume in service.get("volumes", [])}
    assert used == set(file["volumes"])
    (subnet,) = file["networks"]["inside"]["ipam"]["config"]
    balancer = json.dumps(file["services"]["caddy"]) + json.dumps(file.get("configs", {}))
    for name, gateway in gateways(file).items():
        assert gateway["image"] == f"parley:{VERSION}"
        assert gateway["environment"]["PARLEY_TRUSTED_PROXY"] == subnet["subnet"]
        assert f"{name}:{port}" in balancer
        # Longer than the drain-time that the program has without a setting.
        assert int(gateway["stop_grace_period"].removesuffix("s")) > 10


@pytest.mark.parametrize("name", FILES)
def test_the_settings_are_the_programs(name, tmp_path):
    for number, gateway in enumerate(gateways(composed(name)).values()):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
        users = tmp_path / "users"
        users.touch(mode=0o600)
        chosen = gateway["environment"] | {
            "PARLEY_DATA_DIR": str(tmp_path / str(number)), "PARLEY_USERS_FILE": str(users),
        }  # fmt: skip
        # A database that is not there is another program's mistake; one host fails at once.
        if "PARLEY_STORE_URL" in chosen:
            chosen["PARLEY_STORE_URL"] = chosen["PARLEY_STORE_URL"].replace("database,standby", "/none,/none")
        ended = subprocess.run(
            [PROGRAM, "check", "--json"], capture_output=True, text=True, env=clean | chosen, cwd=tmp_path,
            timeout=PROGRAM_SECONDS,
        )  # fmt: skip
        report = json.loads(ended.stdout)
        assert report["problems"] == []
        known = {"PARLEY_" + setting["name"].upper().replace("-", "_") for setting in report["settings"]}
        assert {name for name in chosen if name.startswith("PARLEY_")} <= known
        assert report["store"]["state"] == ("unreadable" if "PARLEY_STORE_URL" in chosen else "missing")


def test_the_cluster_is_one(tmp_path):
    file = composed("compose-cluster.yaml")
    nodes = [gateway["environment"] for gateway in gateways(file).values()]
    assert len(nodes) == 3
    folders = [node.pop("PARLEY_DATA_DIR") for node in nodes]
    assert len(set(folders)) == 3, "each has a data folder of its own"
    assert nodes[0] == nodes[1] == nodes[2]
    hosts = re.search(r"host=([^&]+)&port=([\d,]+)", nodes[0]["PARLEY_STORE_URL"])
    assert set(hosts[1].split(",")) <= set(file["services"]) and set(hosts[2].split(",")) == {"5432"}
    assert re.fullmatch(r"nats://(\w+):4222", nodes[0]["PARLEY_BROKER_URL"])[1] in file["services"]
    database, standby = file["services"]["database"], file["services"]["standby"]
    assert database["image"] == standby["image"]
    assert database["environment"]["POSTGRES_PASSWORD"] == standby["environment"]["PGPASSWORD"] == nodes[0]["PGPASSWORD"]
    # Commits wait for the name that the standby gives itself.
    awaited = re.search(r"synchronous_standby_names = '(\w+)'", file["configs"]["has-standby"]["content"])[1]
    assert f"cluster_name={awaited}" in standby["command"][0]


def test_the_scripts_are_valid(tmp_path):
    file = composed("compose-cluster.yaml")
    for script in (file["configs"]["has-standby"]["content"], file["services"]["standby"]["command"][0]):
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    caddy = shutil.which("caddy", path="/usr/sbin:/usr/bin")
    (tmp_path / "Caddyfile").write_text(file["configs"]["balancer"]["content"])
    ended = subprocess.run(
        [caddy, "adapt", "--config", tmp_path / "Caddyfile"], capture_output=True, text=True,
        env={"PARLEY_NAME": "notes.example.org", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "notes.example.org" in ended.stdout and ended.stdout.count('"dial":"three:8080"') == 2
