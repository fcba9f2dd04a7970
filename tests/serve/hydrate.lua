-- What wrk sends: hydrations of one agent.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("HYDRANT_TOKEN")
wrk.body = os.getenv("HYDRANT_BODY")

-- One line that a program reads: totals, and the latency in microseconds.
done = function(summary, latency)
   local errors = summary.errors
   io.write(string.format(
      '{"requests":%d,"duration_us":%d,"status":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"p50_us":%d,"p99_us":%d,"max_us":%d}\n',
      summary.requests, summary.duration, errors.status, errors.connect, errors.read, errors.write, errors.timeout,
      latency:percentile(50), latency:percentile(99), latency.max))
end
