// A copy of a tool that differs in nothing but what it does: prototype and all properties, also hidden ones, are the tool's.
import type { ToolLike } from "../../index.js";
import { modelOutput } from "./model-output.js";

type Method = (...args: any[]) => unknown;
type Run = <R>(fn: () => R) => R;

export function dressed(tool: ToolLike, execute: NonNullable<ToolLike["execute"]>, run: Run): ToolLike {
  const own = Object.getOwnPropertyDescriptors(tool) as PropertyDescriptorMap;
  const properties: PropertyDescriptorMap = { ...inheritedAccessors(tool), ...own };
  for (const name of methods(tool)) {
    const value: unknown = Reflect.get(tool, name);
    if (typeof value !== "function") continue;
    const method: Method = (...args) => run(() => Reflect.apply(value, tool, args) as unknown);
    properties[name] = replaced(own[name], name === "toModelOutput" ? modelOutput(method) : method);
  }
  properties["execute"] = replaced(own["execute"], execute);
  return Object.create(Object.getPrototypeOf(tool) as object | null, properties) as ToolLike;
}

function replaced(before: PropertyDescriptor | undefined, value: unknown): PropertyDescriptor {
  return { value, writable: true, configurable: true, enumerable: before?.enumerable ?? false };
}

/** What SDKs call besides `execute`. */
function methods(tool: object): string[] {
  const names = ["toModelOutput", "needsApproval"];
  for (const name in tool) if (name.startsWith("onInput")) names.push(name);
  for (const at of prototypes(tool))
    names.push(...Object.getOwnPropertyNames(at).filter((name) => name.startsWith("onInput")));
  return names;
}

/** Getters of a class may read what is private to the tool itself, so they are asked of it. */
function inheritedAccessors(tool: object): PropertyDescriptorMap {
  const accessors: PropertyDescriptorMap = {};
  for (const prototype of prototypes(tool)) {
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (get === undefined || name in accessors) continue;
      accessors[name] = { get: () => Reflect.get(tool, name) as unknown, configurable: true, enumerable: false };
    }
  }
  return accessors;
}

/** But not the one that all objects have, of whatever realm. */
function prototypes(tool: object): object[] {
  const found: object[] = [];
  let prototype = Object.getPrototypeOf(tool) as object | null;
  while (prototype !== null) {
    const next = Object.getPrototypeOf(prototype) as object | null;
    if (next !== null) found.push(prototype);
    prototype = next;
  }
  return found;
}
