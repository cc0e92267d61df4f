"""The words that generated requests are sown with: few, so that they meet in one row; and what the server answered."""

import datetime
import json
from collections import defaultdict, deque
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "tests/fixtures/observations/observations.json"
CALLER = "did:example:worker"
HLC = ["1760000000000-0000-a", "1760000000001-0000-a", "1760000000001-0001-b"]

# By the input field's name and type. What a type leaves out stays as it was generated.
WORDS = {
    ("leaseToken", "String"): ["lease-1", "lease-2"],
    ("callerDid", "String"): [CALLER],
    ("ownerDid", "String"): ["did:example:ada", "did:example:ben"],
    ("connectorName", "String"): ["calendar", "contacts"],
    ("operationId", "String"): [f"op-{n}" for n in range(40)],
    ("documentId", "String"): ["doc-1", "doc-2", "doc-3"],
    ("sourceId", "String"): ["source-1", "source-2", "source-3"],
    ("model", "String"): ["event"],
    ("modelId", "String"): ["event"],
    ("accountKey", "String"): ["account"],
    ("target", "String"): ["primary"],
    ("deterministicEventId", "String"): ["event-1"],
    ("payloadHash", "String"): ["hash-1"],
    ("marker", "String"): ["marker-1", "marker-2"],
    ("sendMarker", "String"): ["marker-1"],
    ("winnerDigest", "String"): ["digest-1", "digest-2"],
    ("digest", "String"): ["digest-1", "digest-2"],
    ("fetchedDigest", "String"): ["digest-1", "digest-2"],
    ("triggeringWinner", "String"): ["digest-1", "digest-2"],
    ("valueDigest", "String"): ["digest-1"],
    ("winnerVersion", "String"): HLC,
    ("version", "String"): HLC,
    ("sourceFetchHlc", "String"): HLC,
    ("fetchHlc", "String"): HLC,
    ("decisionHlc", "String"): HLC,
    ("note", "String"): ["by schemathesis"],
    ("lastError", "String"): ["it failed"],
    ("error", "String"): ["it failed"],
    ("kind", "String"): ["network", "full"],
    ("partition", "String"): ["p1", "p2"],
    ("provenance", "String"): ["relist-1", "relist-2", "relist-3"],
    ("state", "String"): ["state-1", "state-2", "state-3"],
    ("codeVerifier", "String"): ["verifier"],
    ("provider", "String"): ["google"],
    ("redirectUrl", "String"): ["https://desk.example/back"],
    ("providerEtag", "String"): ["etag"],
    ("text", "String"): ["op-1", "doc", "source"],
    ("signer", "String"): ["did:example:worker"],
    ("owner", "String"): ["did:example:ada"],
    ("leaseMs", "Int"): [1_000, 60_000],
    ("claimMs", "Int"): [1_000, 60_000],
    ("version", "Int"): [0, 1, 2, 3],
    ("generation", "Int"): [0, 1, 2],
    ("maxAttempts", "Int"): [1, 3],
    ("limit", "Int"): [1, 100],
    ("httpStatus", "Int"): [200, 503],
    ("entityCount", "Int"): [0, 7],
    ("first", "Int"): [0, 1, 3],
    ("last", "Int"): [1, 3],
    ("buckets", "Int"): [1, 10],
}
# Which nodes an id names, by the input that it stands in. Anywhere else it may be any.
OPERATIONS = {
    "ReissueOperationInput", "LeaseInput", "ReleaseLeaseInput", "MarkSendStartedInput", "RecordOperationInput",
    "DeferOperationInput", "FinalizeOperationInput",
}
WATCHES = {"ArmWatchInput", "RequestRepullInput", "ClaimWatchAttemptInput", "DeferWatchInput", "RecordVerificationInput"}
OBSERVATIONS = {"ObservationRecordInput", "PruneObservationInput", "ObservationKeyInput"}


class Words:
    def __init__(self, draw):
        self.draw = draw
        # The newest first: what was answered long ago may have gone.
        self.learned = defaultdict(lambda: deque(maxlen=40))
        self.copies = json.loads(FIXTURES.read_text())

    @staticmethod
    def times():
        """Around now, and far from it."""
        now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        offsets = [datetime.timedelta(**by) for by in ({"days": -400}, {"hours": -1}, {"seconds": 1}, {"minutes": 5}, {"days": 30})]
        return [(now + offset).isoformat().replace("+00:00", "Z") for offset in offsets]

    def of(self, parent, name, kind, draw):
        """A value for this field of this type within that input or argument; none to leave it as it is."""
        if kind == "ID":
            return self.node(parent, draw)
        if kind == "DateTime":
            known = self.learned[name]
            return draw.choice(known) if known and draw.random() < 0.7 else draw.choice(self.times())
        if parent == "SweepDocumentInput":
            # What is swept is gone: the others are for the acts that need them there.
            return "doc-3"
        words = WORDS.get((name, kind))
        return draw.choice(words) if words else None

    def node(self, parent, draw):
        kinds = ["operation"] if parent in OPERATIONS else ["watch"] if parent in WATCHES else ["operation", "watch", "other"]
        known = [node for kind in kinds for node in self.learned[kind]]
        return draw.choice(known) if known else None

    def whole(self, kind, draw):
        """A whole input that no vocabulary could put together: a signed claim."""
        if str(kind) not in OBSERVATIONS:
            return None
        # Mostly one that the owner signed, so that it counts.
        own = [copy for copy in self.copies if copy["signer"] == copy["owner"] and not copy["expired"]]
        copy = draw.choice(own if draw.random() < 0.7 else self.copies)
        whole = {"owner": copy["owner"], "id": copy["id"]}
        if str(kind) == "ObservationRecordInput":
            whole |= {"opJwt": copy["jwt"], "payload": copy["payload"]}
        elif str(kind) == "PruneObservationInput":
            whole |= {"signer": copy["signer"]}
        return whole

    def claim(self, operation_id):
        """An operation that will be finished."""
        words = {name: values[0] for (name, _), values in WORDS.items()}
        names = ("callerDid", "ownerDid", "connectorName", "model", "accountKey", "target", "deterministicEventId", "payloadHash")
        given = {name: words[name] for name in (*names, "leaseToken")}
        return given | {"operationId": operation_id, "op": "CREATE", "leaseMs": 60_000}

    def finalize(self, node):
        """The finishing of it: a watch on one of the documents that nothing sweeps."""
        document = self.draw.choice(["doc-1", "doc-2"])
        source = f"source-{document[-1]}"
        given = {"id": node, "leaseToken": "lease-1", "version": 0, "documentId": document}
        return given | {"sourceId": source, "winnerDigest": "digest-1"}

    def learn(self, data):
        """Keeps ids and times of an answer."""
        if isinstance(data, list):
            for item in data:
                self.learn(item)
        elif isinstance(data, dict):
            for name, value in data.items():
                if isinstance(value, str):
                    self.keep(name, value)
                else:
                    self.learn(value)

    def keep(self, name, value):
        if name == "id":
            prefix = value.split("_")[0]
            kind = {"op": "operation", "wa": "watch"}.get(prefix, "other" if len(prefix) == 2 else None)
            if kind:
                self.learned[kind].append(value)
        elif name == "claimedUntil":
            self.learned[name].append(value)
