// Joins Vega's parts, as libjs-vega has them, to the object `vega` that its own bundle makes, with the interpreter of expressions, by which
// the page does without eval.
var vega = (function () {
    "use strict";
    const parts = {}, made = {};
    function need(name) {
        name = name === "vega-selections" ? "vega-selection" : name; // one part asks for it by this name
        if (!made[name]) {
            made[name] = {};
            parts[name](made[name], {}, need);
        }
        return made[name];
    }
/*PARTS*/
    const all = {}, { transforms } = need("vega-dataflow");
    for (const part of ["transforms", "view-transforms", "encode", "label", "regression", "crossfilter"])
        Object.assign(transforms, need("vega-" + part));
    for (const part of ["statistics", "time", "util", "loader", "scenegraph", "dataflow", "scale", "view", "functions", "parser", "expression",
        "event-selector", "interpreter"])
        Object.assign(all, need("vega-" + part));
    const format = need("vega-format");
    all.formatLocale = format.numberFormatDefaultLocale;
    all.timeFormatLocale = format.timeFormatDefaultLocale;
    all.locale = format.locale;
    all.runtimeContext = need("vega-runtime").context;
    return all;
})();
