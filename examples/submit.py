#!/usr/bin/python3
"""Submits a command to Rota from Python, over the IDL alone. Debian: apt install python3-thrift
thrift-compiler; thrift -r --gen py -out gen thrift/job.thrift.
usage: PYTHONPATH=gen submit.py HOST:PORT CMD ARG...   (any master: it forwards to the leader)"""
import sys, time, uuid
if len(sys.argv) < 3:
    sys.exit(__doc__)
from thrift.protocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport
from rota.job import JobService
from rota.job.ttypes import JobDefinition, Rules, Schedule, Retry, SubmitItem, Work
from rota.ttypes import RequestHead

host, port = sys.argv[1].rsplit(":", 1)
transport = TTransport.TFramedTransport(TSocket.TSocket(host, int(port)))
rota = JobService.Client(TBinaryProtocol.TBinaryProtocol(transport))
transport.open()
job = JobDefinition(work=Work(argv=sys.argv[2:]), rules=Rules(schedule=Schedule(), retry_rule=Retry()))
run = rota.submit(RequestHead(forward=True), SubmitItem(job, {}, str(uuid.uuid4()))).run
while (state := rota.get_run(RequestHead(), run).run.state) in ("waiting", "queued", "dispatched", "running"):
    time.sleep(0.05)
print(f"run {run} {state}")
sys.exit(0 if state == "succeeded" else 10)
