// The global that Lambda gives to functions that stream. MiniStack takes whole responses only, so
// it gets one.
const { Writable } = require("node:stream");

globalThis.awslambda = {
  streamifyResponse: (handler) => async (event, context) => {
    const chunks = [];
    const stream = new Writable({
      write: (chunk, _encoding, done) => done(void chunks.push(chunk)),
    });
    await handler(event, stream, context);
    return { ...stream.head, streamed: true, body: Buffer.concat(chunks).toString("base64") };
  },
  HttpResponseStream: { from: (stream, head) => Object.assign(stream, { head }) },
};
