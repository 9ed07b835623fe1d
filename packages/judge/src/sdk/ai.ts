// The used parts of the AI SDK, bundled separately so that they do not slow down start-up.
export {
  APICallError,
  embedMany,
  generateText,
  jsonSchema,
  NoObjectGeneratedError,
  Output,
} from 'ai';
