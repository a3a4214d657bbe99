-- The tables of `query` (docs/queries.md), each with a macro that reads its rows out of a batch of records in JSON.
-- A value of another type than its column is NULL, as spca.report.read.lenient has it.

CREATE MACRO words(v) AS CASE json_type(v) WHEN 'VARCHAR' THEN v->>'$' END;
CREATE MACRO truth(v) AS CASE json_type(v) WHEN 'BOOLEAN' THEN CAST(v AS BOOLEAN) END;
-- Numbers beyond 2**53 are not exact as floats.
CREATE MACRO exact(v) AS TRY_CAST(v AS HUGEINT) BETWEEN -9007199254740992 AND 9007199254740992;
CREATE MACRO whole(v) AS CASE json_type(v) WHEN 'UBIGINT' THEN CASE WHEN exact(v) THEN TRY_CAST(v AS BIGINT) END END;
CREATE MACRO amount(v) AS CASE WHEN CASE json_type(v) WHEN 'UBIGINT' THEN exact(v) WHEN 'BIGINT' THEN exact(v)
    WHEN 'DOUBLE' THEN TRY_CAST(v AS DOUBLE) BETWEEN -9007199254740992 AND 9007199254740992 END
    THEN TRY_CAST(v AS DOUBLE) END;
-- From year 1 until year 10,000: Python has no other times.
CREATE MACRO seconds_since_1970(v) AS list_transform([v],
    lambda s: CASE WHEN s >= -62135596800 AND s < 253402300800
    THEN make_timestamp(
        CAST(trunc(s) AS BIGINT) * 1000000 + CAST(round_even((s - trunc(s)) * 1e6, 0) AS BIGINT)
    ) END)[1];
CREATE MACRO moment(v) AS seconds_since_1970(amount(v));
CREATE MACRO word_list(v) AS CASE json_type(v) WHEN 'ARRAY' THEN
    list_transform(list_filter(json_extract(v, '$[*]'), lambda x: json_type(x) = 'VARCHAR'), lambda x: x->>'$') END;

CREATE SCHEMA files;
CREATE TABLE batch (number BIGINT, record VARCHAR);

CREATE MACRO files.runs(run) AS TABLE SELECT
    run AS run_id,
    words(r.state) AS state,
    whole(r.seed) AS seed,
    words(r.sandbox) AS sandbox,
    words(r.models.planner) AS planner,
    words(r.models.planner_small) AS planner_small,
    words(r.models.coder) AS coder,
    truth(r.settings->'$.upstream_rules') AS upstream_rules,
    truth(r.settings->'$.cache') AS "cache",
    words(r.settings->'$.engine') AS engine,
    moment(r.started) AS started,
    moment(r.ended) AS ended,
    amount(r.seconds) AS seconds,
    whole(r.planned) AS planned,
    whole(r.finished) AS finished,
    whole(r.solved) AS solved,
    whole(r.usage.requests) AS requests,
    whole(r.usage.answered) AS answered,
    whole(r.usage.input_tokens) AS input_tokens,
    whole(r.usage.output_tokens) AS output_tokens,
    whole(r.usage.cached_tokens) AS cached_tokens,
    whole(r.usage.cache_write_tokens) AS cache_write_tokens,
    whole(r.usage.reasoning_tokens) AS reasoning_tokens,
    amount(r.usage.cost_usd) AS cost_usd,
    whole(r.usage.cost_unknown) AS cost_unknown,
    whole(r.usage.estimated) AS estimated,
    words(r.git_commit) AS git_commit,
    truth(r.git_dirty) AS git_dirty,
    words(r.hashes.product) AS product_hash,
    words(r.hashes.prompts) AS prompts_hash,
    words(r.hashes.curriculum) AS curriculum_hash,
    words(r.versions.spca) AS spca,
    words(r.versions.minigrid) AS minigrid,
    words(r.versions.python) AS python,
    r.settings AS settings
FROM (SELECT *, json_transform(record, '
    {"state": "JSON", "seed": "JSON", "sandbox": "JSON", "models": {"planner": "JSON", "planner_small": "JSON",
    "coder": "JSON"}, "settings": "JSON", "started": "JSON", "ended": "JSON", "seconds": "JSON",
    "planned": "JSON", "finished": "JSON", "solved": "JSON", "usage": {"requests": "JSON", "answered": "JSON",
    "input_tokens": "JSON", "output_tokens": "JSON", "cached_tokens": "JSON", "cache_write_tokens": "JSON",
    "reasoning_tokens": "JSON", "cost_usd": "JSON", "cost_unknown": "JSON", "estimated": "JSON"},
    "git_commit": "JSON", "git_dirty": "JSON", "hashes": {"product": "JSON", "prompts": "JSON", "curriculum": "JSON"},
    "versions": {"spca": "JSON", "minigrid": "JSON", "python": "JSON"}}
') AS r FROM batch);

CREATE MACRO files.levels(run) AS TABLE SELECT
    run AS run_id,
    whole(r.number) AS level_index,
    words(r.category) AS category,
    words(r.level) AS level,
    words(r.env_id) AS env_id,
    whole(r.seed) AS seed,
    words(r.outcome) AS outcome,
    words(r.reason) AS reason,
    nullif(words(r.writer), '') AS writer,
    whole(r.begun) AS begun,
    seconds_since_1970(coalesce(amount(r.run_started), 0) + amount(r.started)) AS started,
    amount(r.seconds) AS seconds,
    whole(r.rounds) AS rounds,
    whole(r.attempts) AS attempts,
    whole(r.planner_calls) AS planner_calls,
    whole(r.coder_calls) AS coder_calls,
    whole(r.summary.counters.planner_fresh) AS planner_fresh,
    whole(r.summary.counters.planner_reuse) AS planner_reuse,
    whole(r.summary.counters.planner_replan) AS planner_replan,
    whole(r.summary.counters.planner_syntax) AS planner_syntax,
    whole(r.summary.counters.planner_compiled) AS planner_compiled,
    whole(r.summary.counters.compiled_failed) AS compiled_failed,
    whole(r.summary.counters.coder_first) AS coder_first,
    whole(r.summary.counters.coder_semantic) AS coder_semantic,
    whole(r.summary.counters.coder_syntax) AS coder_syntax,
    amount(r.durations.plan) AS plan_s,
    amount(r.durations.solve) AS solve_s,
    amount(r.durations.code) AS code_s,
    amount(r.durations.act) AS act_s,
    whole(r.steps) AS steps,
    whole(r.steps_total) AS steps_total,
    whole(r.usage.requests) AS requests,
    whole(r.usage.answered) AS answered,
    whole(r.usage.input_tokens) AS input_tokens,
    whole(r.usage.output_tokens) AS output_tokens,
    whole(r.usage.cached_tokens) AS cached_tokens,
    whole(r.usage.cache_write_tokens) AS cache_write_tokens,
    whole(r.usage.reasoning_tokens) AS reasoning_tokens,
    amount(r.usage.cost_usd) AS cost_usd,
    whole(r.usage.cost_unknown) AS cost_unknown,
    whole(r.usage.estimated) AS estimated,
    whole(r.library.actions) AS library_actions,
    whole(r.library.methods) AS library_methods,
    whole(r.library.bytes) AS library_bytes,
    word_list(r.corrections) AS corrections,
    words(r.summary.agent_file) AS agent_file,
    words(r.summary.trajectory) AS trajectory
FROM (SELECT *, json_transform(record, '
    {"number": "JSON", "category": "JSON", "level": "JSON", "env_id": "JSON", "seed": "JSON", "outcome": "JSON",
    "reason": "JSON", "writer": "JSON", "begun": "JSON", "run_started": "JSON", "started": "JSON", "seconds": "JSON",
    "rounds": "JSON", "attempts": "JSON", "planner_calls": "JSON", "coder_calls": "JSON",
    "summary": {"counters": {"planner_fresh": "JSON", "planner_reuse": "JSON", "planner_replan": "JSON",
    "planner_syntax": "JSON", "planner_compiled": "JSON", "compiled_failed": "JSON",
    "coder_first": "JSON", "coder_semantic": "JSON", "coder_syntax": "JSON"},
    "agent_file": "JSON", "trajectory": "JSON"}, "durations": {"plan": "JSON", "solve": "JSON", "code": "JSON",
    "act": "JSON"}, "steps": "JSON", "steps_total": "JSON", "usage": {"requests": "JSON", "answered": "JSON",
    "input_tokens": "JSON", "output_tokens": "JSON", "cached_tokens": "JSON", "cache_write_tokens": "JSON",
    "reasoning_tokens": "JSON", "cost_usd": "JSON", "cost_unknown": "JSON", "estimated": "JSON"},
    "library": {"actions": "JSON", "methods": "JSON", "bytes": "JSON"}, "corrections": "JSON"}
') AS r FROM batch);

CREATE MACRO files.calls(run) AS TABLE SELECT
    run AS run_id,
    whole(r.number) AS number,
    whole(r."index") AS level_index,
    words(r.category) AS category,
    words(r.level) AS env_id,
    whole(r.seed) AS seed,
    whole(r.round) AS round,
    words(r.phase) AS phase,
    words(r.mode) AS mode,
    whole(r.attempt) AS attempt,
    words(r.model) AS model,
    words(r.form) AS form,
    words(r."key") AS "key",
    moment(r.started) AS started,
    amount(r.latency_s) AS latency_s,
    whole(r.asked_tokens) AS asked_tokens,
    whole(r.input_tokens) AS input_tokens,
    whole(r.output_tokens) AS output_tokens,
    whole(r.cached_tokens) AS cached_tokens,
    whole(r.cache_write_tokens) AS cache_write_tokens,
    whole(r.reasoning_tokens) AS reasoning_tokens,
    truth(r.estimated) AS estimated,
    amount(r.cost) AS cost_usd,
    words(r.outcome) AS outcome,
    whole(r.status) AS status,
    words(r.error) AS error,
    words(r.transcript) AS transcript
FROM (SELECT *, json_transform(record, '
    {"number": "JSON", "index": "JSON", "category": "JSON", "level": "JSON", "seed": "JSON", "round": "JSON",
    "phase": "JSON", "mode": "JSON", "attempt": "JSON", "model": "JSON", "form": "JSON", "key": "JSON",
    "started": "JSON", "latency_s": "JSON", "asked_tokens": "JSON", "input_tokens": "JSON",
    "output_tokens": "JSON", "cached_tokens": "JSON", "cache_write_tokens": "JSON", "reasoning_tokens": "JSON",
    "estimated": "JSON", "cost": "JSON", "outcome": "JSON", "status": "JSON", "error": "JSON",
    "transcript": "JSON"}
') AS r FROM batch);

CREATE MACRO files.events(run) AS TABLE SELECT
    run AS run_id,
    number,
    moment(r.time) AS time,
    words(r.event) AS event,
    whole(r.level_index) AS level_index,
    words(coalesce(r.category, r.level.category)) AS category,
    words(coalesce(r.level_name, r.level.level_name)) AS env_id,
    words(r.name) AS name,
    whole(r.value) AS value,
    words(r.mode) AS mode,
    words(r.model) AS model,
    amount(r.seconds) AS seconds,
    amount(r.solve_s) AS solve_s,
    whole(r.input_tokens) AS input_tokens,
    whole(r.output_tokens) AS output_tokens,
    whole(r.cached_tokens) AS cached_tokens,
    whole(r.cache_write_tokens) AS cache_write_tokens,
    whole(r.reasoning_tokens) AS reasoning_tokens,
    whole(r.requests) AS requests,
    amount(r.cost) AS cost_usd,
    words(r.source) AS source,
    truth(r.ok) AS ok,
    words(r.error) AS error,
    words(r.transcript) AS transcript,
    words(r.outcome) AS outcome,
    words(r.reason) AS reason,
    CAST(record AS JSON) AS data
FROM (SELECT *, json_transform(record, '
    {"time": "JSON", "event": "JSON", "level_index": "JSON", "category": "JSON", "level": {"category": "JSON",
    "level_name": "JSON"}, "level_name": "JSON", "name": "JSON", "value": "JSON", "mode": "JSON",
    "model": "JSON", "seconds": "JSON", "solve_s": "JSON", "input_tokens": "JSON", "output_tokens": "JSON",
    "cached_tokens": "JSON", "cache_write_tokens": "JSON", "reasoning_tokens": "JSON", "requests": "JSON",
    "cost": "JSON", "source": "JSON", "ok": "JSON", "error": "JSON", "transcript": "JSON", "outcome": "JSON",
    "reason": "JSON"}
') AS r FROM batch);

CREATE MACRO files.attempts(run) AS TABLE SELECT
    run AS run_id,
    whole(r.level_index) AS level_index,
    words(r.category) AS category,
    words(r.env_id) AS env_id,
    whole(r.seed) AS seed,
    whole(r.round) AS round,
    whole(r.attempt) AS attempt,
    words(r.status) AS status,
    words(r.message) AS message,
    words(r.exception) AS exception,
    whole(r.line) AS line,
    words(r.method) AS method,
    whole(r.plan_position) AS plan_position,
    words(r.action) AS action,
    word_list(r.args) AS args,
    whole(r.steps) AS steps,
    amount(r.reward) AS reward,
    words(r.agent) AS agent
FROM (SELECT *, json_transform(record, '
    {"level_index": "JSON", "category": "JSON", "env_id": "JSON", "seed": "JSON", "round": "JSON",
    "attempt": "JSON", "status": "JSON", "message": "JSON", "exception": "JSON", "line": "JSON",
    "method": "JSON", "plan_position": "JSON", "action": "JSON", "args": "JSON", "steps": "JSON",
    "reward": "JSON", "agent": "JSON"}
') AS r FROM batch);

CREATE MACRO files.steps(run) AS TABLE SELECT
    run AS run_id,
    whole(r.level_index) AS level_index,
    words(r.category) AS category,
    words(r.env_id) AS env_id,
    whole(r.seed) AS seed,
    whole(r.round) AS round,
    whole(r.attempt) AS attempt,
    words(r.status) AS status,
    words(r.agent) AS agent,
    whole(r.step) AS step,
    words(r.primitive) AS primitive,
    whole(r.plan_position) AS plan_position,
    words(r.action) AS action,
    word_list(r.args) AS args,
    whole(r.line) AS line
FROM (SELECT *, json_transform(record, '
    {"level_index": "JSON", "category": "JSON", "env_id": "JSON", "seed": "JSON", "round": "JSON",
    "attempt": "JSON", "status": "JSON", "agent": "JSON", "step": "JSON", "primitive": "JSON",
    "plan_position": "JSON", "action": "JSON", "args": "JSON", "line": "JSON"}
') AS r FROM batch);

CREATE MACRO files.writers(run) AS TABLE SELECT
    run AS run_id,
    words(r.label) AS writer,
    whole(r.level) AS level_index,
    whole(r.planned) AS planned,
    whole(r.failed) AS failed,
    whole(r.cases) AS cases,
    whole(r.late) AS late,
    whole(r.invalid) AS invalid,
    words(r.left_out) AS left_out
FROM (SELECT *, json_transform(record, '
    {"label": "JSON", "level": "JSON", "planned": "JSON", "failed": "JSON", "cases": "JSON", "late": "JSON",
    "invalid": "JSON", "left_out": "JSON"}
') AS r FROM batch);

CREATE TABLE runs AS FROM files.runs('');
CREATE TABLE levels AS FROM files.levels('');
CREATE TABLE calls AS FROM files.calls('');
CREATE TABLE events AS FROM files.events('');
CREATE TABLE attempts AS FROM files.attempts('');
CREATE TABLE steps AS FROM files.steps('');
CREATE TABLE writers AS FROM files.writers('');
DROP TABLE batch;
