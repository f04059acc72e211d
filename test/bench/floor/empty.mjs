export const handler = async () => ({ statusCode: 204, headers: {}, body: "" });
