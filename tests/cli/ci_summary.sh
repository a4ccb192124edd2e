# The sum of tools/ci.sh: what failed besides tests, tests that could not run, tests that were skipped and run later.
case_xml() { # name, status, element inside
    printf '\t<testcase name="%s" classname="%s" time="1" status="%s">\n%s\n\t</testcase>\n' "$1" "$1" "$2" "$3"
}
skipped='<skipped message="SKIP_RETURN_CODE=77"/>'
{
    echo '<testsuite name="x">'
    case_xml unit.good run '<system-out>1 &lt; 2</system-out>'
    case_xml unit.bad fail '<failure message=""/>'
    case_xml unit.no_program notrun '<skipped message="Unable to find executable"/>'
    case_xml unit.needs_another notrun '<skipped message="Fixture dependency failed"/>'
    case_xml gpu.check notrun "$skipped"
    case_xml cli.a+b.c notrun "$skipped"
    echo '</testsuite>'
} >release.xml
{
    echo '<testsuite name="x">'
    case_xml gpu.check notrun "$skipped"
    case_xml cli.a+b.c run ''
    echo '</testsuite>'
} >optional.xml
printf 'asan 12 the build\nrelease 340 \noptional 5 \n' >stages
python3 "$CASES/../../tools/ci-summary.py" --skipped release.xml
python3 "$CASES/../../tools/ci-summary.py" . 'A note.'
