// What every Persistent Dir does, over customDir load/store with a cursor. The cases are in support/persistent/conformance/.
import { conformance } from "./support/persistent/conformance.mjs";
import { newStore } from "./support/persistent/stores.mjs";

conformance("customDir load/store with a cursor", newStore("cursor"));
