module tornpage

go 1.26
