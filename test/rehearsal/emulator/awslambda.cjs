// The global that Lambda gives to functions that stream. MiniStack takes only whole responses, so
// this collects one.
const { Writable } = require("node:stream");

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
    return { ...stream.head, streamed: true, body: Buffer.concat(chunks).toString("base64") };
  },
  HttpResponseStream: { from: (stream, head) => Object.assign(stream, { head }) },
};
