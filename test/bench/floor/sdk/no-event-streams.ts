/**
 * Replaces `@smithy/core/event-streams`. The SDK imports it at run time for operations
 * with event streams, of which DynamoDB has none, and esbuild can't tree-shake a dynamic import.
 */
export const EventStreamSerde = undefined;
export const eventStreamSerdeProvider = undefined;
