# What tests of all folders have beside their own.
# Two presets make CI, and share what takes long. Of some tests right or wrong is what a generated kernel computes, a text, a file or another
# program, none of which a sanitizer looks into; what of cutune these run, tests that stay run too (kill_runs, for kill_runs_opencl; cli_tables
# and test_templates, for test_tables; cli_exchange and cli_served, for export_c; cli_reference and cli_launches, for cli_data and cli_others).
# Preset asan leaves them out. The other tests of the command line and of faults, and some more that take long, are about cutune's own code:
# preset ci leaves them to asan, and all other presets have them all.
set(uninstrumented test_fault test_tables mutants close export_c ports layers bench_scripts report_page docs_links docs_facts docs_commands
    docs_site kill_runs_opencl cli_data cli_others cli_numbers cli_peaks cli_native cli_new-op)
set(sanitized "^(cli_.*|kill_runs|disk|lock|container|together|shimmed|test_(tune|measure|search|op|store_versions|runtime_hostile)|python_package)$")
# The longest begin first, so that none is left over at the end. Some mostly wait, for a deadline or for the lock of the device; each of these
# stands among others that compute without it, so that there is always work for the cores.
set(long test_tune test_templates test_fault test_tables ports check_ops_transpose close kill_runs check_ops_f32 mutants check_ops_gemm
    cli_data test_measure kill_runs_opencl cli_others test_runtime_hostile test_store_versions cli_tables cli_work test_search cli_new-op
    cli_output export_c cli_terminal cli_peaks check_ops_transpose_inplace on_opencl_launches cli_hostile cli_numbers python_package
    cli_launches report_page test_worker lock)
# What the tests of one folder have beside their own: CMake knows a test only there, so each folder calls it at its end.
function(mark_tests)
    set(cost 1000)
    foreach(name IN LISTS long)
        math(EXPR cost "${cost} - 1")
        if(TEST ${name})
            set_property(TEST ${name} PROPERTY COST ${cost})
        endif()
    endforeach()
    get_property(names DIRECTORY PROPERTY TESTS)
    foreach(name IN LISTS names)
        if(name IN_LIST uninstrumented)
            set_property(TEST ${name} PROPERTY LABELS uninstrumented)
        elseif(name MATCHES ${sanitized})
            set_property(TEST ${name} PROPERTY LABELS sanitized)
        endif()
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ${leak_options})
    endforeach()
endfunction()
