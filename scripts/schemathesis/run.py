"""What schemathesis generates from the schema, sent to a running server for a time: whatever is asked, no answer is a 5xx or an
INTERNAL error, and every mutation gets through to its act.

Random inputs alone never would: an id has to be one that exists, a lease the one that is held. So most of what has a name in
`words.py` is put in its place, from a small vocabulary in which things meet, or from the server's own answers. The rest stays
as it was generated. Everything follows from one seed, which is printed; `--seed` runs the same again, as far as the server
answers the same.
"""

import argparse
import random
import re
import sys
import time

import graphql
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from schemathesis.graphql import nodes
from words import CALLER, Words

# What the words are learned from, beside the answers to what was generated.
HARVEST = """{
  operations(first: 40, orderBy: UPDATED_DESC) { nodes { id } }
  watches(first: 40) { nodes { id claimedUntil } }
  sweepReceipts(first: 10) { nodes { id } }
  sweepCandidates(first: 10) { nodes { id } }
  syncStates(first: 10) { nodes { id } }
}"""
# What is done by hand before each harvest, so that there are watches: they come of finished writes alone.
CLAIM = "mutation ($input: ClaimOperationInput!) { claimOperation(input: $input) { operation { id } } }"
FINALIZE = "mutation ($input: FinalizeOperationInput!) { finalizeOperation(input: $input) { watch { id } } }"
# Fields between two harvests.
FIELDS = 20
# How many times as long it may go on where something was not reached.
PATIENCE = 4
MOST_FAILURES = 5
# Examples of one field in a row, before the next has its turn.
EXAMPLES = 4
# How often what has a name of ours is put in its place.
OFTEN = 0.85

NAMED_BATCHES = {
    "claimOperations": "claim_operation",
    "recordWinners": "record_winner",
    "requestRepulls": "request_repull",
    "recordSweepOutcomes": "record_sweep_outcome",
}


class Sown(graphql.Visitor):
    """Puts words in the places that generated values have."""

    def __init__(self, info, words, draw):
        super().__init__()
        self.info, self.words, self.draw = info, words, draw

    def enter_object_value(self, node, *_):
        whole = self.words.whole(graphql.get_named_type(self.info.get_input_type()), self.draw)
        if whole is not None and self.draw.random() < OFTEN:
            return graphql.ast_from_value(whole, graphql.get_named_type(self.info.get_input_type()))
        names = [field.name.value for field in node.fields]
        if str(graphql.get_named_type(self.info.get_input_type())) == "ClaimOperationInput" and "callerDid" not in names:
            # Nobody is signed in to be taken for the caller.
            caller = graphql.parse_value(f'{{callerDid: "{CALLER}"}}')
            return graphql.ObjectValueNode(fields=(*node.fields, *caller.fields))
        return None

    def enter_object_field(self, node, *_):
        return self.put(node)

    def enter_argument(self, node, *_):
        return self.put(node)

    def put(self, node):
        kind = self.info.get_input_type()
        if kind is None or graphql.is_list_type(graphql.get_nullable_type(kind)) or self.draw.random() >= OFTEN:
            return None
        named = graphql.get_named_type(kind)
        if node.name.value == "last" or (named.name == "String" and node.name.value in ("after", "before")):
            # A cursor is of one list alone, and a page has one end.
            return graphql.REMOVE
        parent = self.info.get_parent_input_type() or self.info.get_parent_type()
        value = self.words.of(str(parent), node.name.value, named.name, self.draw)
        if value is None:
            return None
        return type(node)(name=node.name, value=graphql.ast_from_value(value, named))


class Run:
    def __init__(self, url, run_seed, headers):
        self.url, self.headers = url, headers
        self.draw = random.Random(run_seed)
        self.words = Words(self.draw)
        self.schema = schemathesis.graphql.from_url(url, headers=headers)
        self.types = self.schema.client_schema
        self.sent, self.reached, self.failures, self.harvests = {}, {}, [], 0

    def sow(self, document):
        info = graphql.TypeInfo(self.types)
        sown = graphql.visit(graphql.parse(document), graphql.TypeInfoVisitor(info, Sown(info, self.words, self.draw)))
        return graphql.print_ast(sown)

    def ask(self, label, case):
        case.body = self.sow(case.body)
        self.sent[label] = self.sent.get(label, 0) + 1
        try:
            response = case.call(headers=self.headers)
            answer = response.json()
        except (requests.RequestException, ValueError) as cause:
            self.failures.append(f"{label}: {cause!r}\n{case.body}")
            return
        codes = [error.get("extensions", {}).get("code") for error in answer.get("errors", [])]
        if response.status_code >= 500 or "INTERNAL" in codes or None in codes:
            self.failures.append(f"{label}: {response.status_code} {answer.get('errors')}\n{case.body}")
        field = label.split(".")[1]
        data = answer.get("data") or {}
        if field in data and not codes:
            self.reached[label] = self.reached.get(label, 0) + 1
        self.words.learn(data)

    def post(self, query, given=None):
        body = {"query": query, "variables": {"input": given}}
        answer = requests.post(self.url, json=body, headers=self.headers, timeout=30).json()
        if "errors" in answer:
            self.failures.append(f"{query}: {answer['errors']}")
            return {}
        return answer["data"]

    def harvest(self):
        self.harvests += 1
        claimed = self.post(CLAIM, self.words.claim(f"walk-{self.harvests}"))
        if claimed:
            self.post(FINALIZE, self.words.finalize(claimed["claimOperation"]["operation"]["id"]))
        self.words.learn(self.post(HARVEST))

    def round(self, label, operation, number):
        @seed(number)
        @settings(
            max_examples=EXAMPLES, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck), derandomize=False,
        )
        @given(case=operation.as_strategy())
        def send(case):
            self.ask(label, case)

        send()

    def run(self, seconds, missed):
        """For so many seconds; for longer on a machine that has not got everything through by then."""
        began = time.monotonic()

        def over():
            since = time.monotonic() - began
            return len(self.failures) >= MOST_FAILURES or since >= PATIENCE * seconds or (since >= seconds and not missed())

        fields = [(operation.ok().label, operation.ok()) for operation in self.schema.get_all_operations()]
        # Each mutation twice for each query: it is they that have far to go.
        fields += [(label, operation) for label, operation in fields if label.startswith("Mutation.")]
        numbers = iter(range(1, sys.maxsize))
        while not over():
            self.draw.shuffle(fields)
            for place, (label, operation) in enumerate(fields):
                if over():
                    break
                if place % FIELDS == 0:
                    self.harvest()
                self.round(label, operation, self.draw.getrandbits(32) + next(numbers))


def snake(name):
    return NAMED_BATCHES.get(name) or re.sub("([A-Z])", r"_\1", name).lower()


def counted(url):
    """The acts that the server counted, by name, from its metrics; read by the parser of the format's makers."""
    acts = {}
    for family in text_string_to_metric_families(requests.get(url, timeout=10).text):
        for sample in family.samples:
            if sample.name == "writewatch_transitions_total" and sample.labels["outcome"] not in ("bad_input", "busy"):
                acts[sample.labels["act"]] = acts.get(sample.labels["act"], 0) + sample.value
    return acts


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("url")
    arguments.add_argument("metrics")
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(31))
    arguments.add_argument("--header", action="append", default=[], help="NAME: VALUE, for a server that asks who one is")
    given_arguments = arguments.parse_args()
    print(f"schemathesis {schemathesis.__version__}, seed {given_arguments.seed}", flush=True)
    schemathesis.graphql.scalar("DateTime", st.sampled_from(Words.times()).map(nodes.String))
    schemathesis.graphql.scalar("JSON", st.sampled_from(["{}", "[1]", "x"]).map(nodes.String))
    headers = dict(header.split(": ", 1) for header in given_arguments.header)
    run = Run(given_arguments.url, given_arguments.seed, headers)
    fields = [operation.ok().label for operation in run.schema.get_all_operations()]
    mutations = sorted(label.split(".")[1] for label in fields if label.startswith("Mutation."))

    def missed():
        acts = counted(given_arguments.metrics)
        return [name for name in mutations if not run.reached.get(f"Mutation.{name}") or not acts.get(snake(name))]

    run.run(given_arguments.seconds, missed)
    acts = counted(given_arguments.metrics)
    for mutation in mutations:
        label = f"Mutation.{mutation}"
        print(f"{mutation:32} sent {run.sent.get(label, 0):6} reached {run.reached.get(label, 0):6} acts {acts.get(snake(mutation), 0):8.0f}")
    left = missed()
    queries = [label for label in fields if label.startswith("Query.") and not run.reached.get(label)]
    print(f"{sum(run.sent.values())} requests; answered with data: {sum(run.reached.values())}; never answered: {left + queries}")
    for failure in run.failures:
        print(f"\nFAILED {failure[:3000]}")
    if left or run.failures:
        sys.exit(f"failed; the same again with --seed {given_arguments.seed}")


main()
