/** Replaces `@smithy/core/event-streams`, which DynamoDB never uses. */
export const EventStreamSerde = undefined;
export const eventStreamSerdeProvider = undefined;
