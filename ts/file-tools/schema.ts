// Schemas that the AI SDK 5, 6 and 7 take for their own, by its registered symbols; `ai` is not imported. A Standard Schema
// alone fails on version 5.

const SCHEMA = Symbol.for("vercel.ai.schema");
const VALIDATOR = Symbol.for("vercel.ai.validator");

export interface Property {
  readonly type: "string" | "integer" | "boolean" | "array" | "object";
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Property;
  readonly properties?: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
}

type Properties = Readonly<Record<string, Property>>;

/** One flat object: some providers refuse anyOf and oneOf at the root. */
export function objectSchema(properties: Properties, required: readonly string[]): Property {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Lets every input through: what is wrong with it is said, coded, by the tool itself. */
export function inputSchema(jsonSchema: Property): object {
  return {
    [SCHEMA]: true,
    [VALIDATOR]: true,
    _type: undefined,
    jsonSchema,
    validate: (value: unknown) => ({ success: true, value }),
  };
}
