// What Lambda gives to functions and MiniStack doesn't.
const { Writable } = require("node:stream");

// The JSON log format. emulator.py puts the request's id in.
for (const level of ["info", "warn", "error"])
  console[level] = (message) => {
    const timestamp = new Date().toISOString();
    const line = { timestamp, level: level.toUpperCase(), requestId: "", message };
    process.stderr.write(`${JSON.stringify(line)}\n`);
  };

// The global for functions that stream. MiniStack takes only whole responses, so this collects one.
globalThis.awslambda = {
  streamifyResponse: (handler) => async (event, context) => {
    const chunks = [];
    const stream = new Writable({
      write: (chunk, _encoding, done) => {
        chunks.push(chunk);
        done();
      },
    });
    await handler(event, stream, context);
    return {
      ...stream.head,
      streamed: true,
      body: Buffer.concat(chunks).toString("base64"),
    };
  },
  HttpResponseStream: { from: (stream, head) => Object.assign(stream, { head }) },
};
