/**
 * Takes the place of `@smithy/core/event-streams`. The SDK imports that at run time, for operations
 * with streams of events, of which DynamoDB has none; and what is imported at run time esbuild
 * can't reduce to what is used.
 */
export const EventStreamSerde = undefined;
export const eventStreamSerdeProvider = undefined;
