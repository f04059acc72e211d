// A function that never finishes loading.
setInterval(() => {}, 1000);
await new Promise(() => {});
