// What every Persistent Dir does, over customDir list/read/write/delete without versions. The cases are in support/persistent/conformance/.
import { conformance } from "./support/persistent/conformance.mjs";
import { newStore } from "./support/persistent/stores.mjs";

conformance("customDir list/read/write/delete without versions", newStore("plain"));
