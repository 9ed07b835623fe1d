// What is used of the AI SDK. Built apart from the rest, so that its copy of shared libraries does not weigh on start-up.
export {
  APICallError,
  embedMany,
  generateText,
  jsonSchema,
  NoObjectGeneratedError,
  Output,
} from 'ai';
