# Mails that become requests.

rules='mail:
  accept:
    - {to: family@photos.home, conversation: family}
    - {to: "cam-*@photos.home", conversation: "{local}", inbox: garden, withoutPhoto: drop}
    - {to: root, conversation: machine}
'
# mail RECIPIENTS SUBJECT TEXT [PHOTO...]: a mail on standard output.
mail() { tool make_mail.py "$@"; }
# deliver NAME [FILE]: as Postfix's agent does, with a link; from standard input or a file.
deliver() {
  cat "${2:--}" > "$spool/mail/tmp/$1"
  ln "$spool/mail/tmp/$1" "$spool/mail/new/$1"
  rm "$spool/mail/tmp/$1"
}
messages() { cat "$spool/published/$1.jsonl" 2> /dev/null | wc -l; }
# come CONVERSATION COUNT: so many messages are published there.
come() { [ "$(messages "$1")" = "$2" ]; }
# digests CONVERSATION: of its published photos as dropped, in their order, one a line.
digests() {
  ledger 'SELECT message, digest FROM messages' > digests.txt
  published "$1" | jq -r 'select(.kind == "photo").message' \
    | awk -F'|' 'NR == FNR { digest[$1] = $2; next } { print digest[$1] }' digests.txt -
}
digests_of() { sha256sum "$@" | cut -d ' ' -f 1; }
took() { [ -z "$(ls -A "$spool/mail/new")" ]; }
